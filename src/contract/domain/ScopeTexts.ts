/** Purpose of each scope of an API key, in a line. Plain text, so that the help of commands costs nothing. */
import type { KeyScope } from "../../subjects/keys/entity.ts"

const unused = "No route or tool of this version asks for it."

export const scopeWords: Readonly<Record<KeyScope, string>> = {
  manage: "Operate the gateway: all management routes and all MCP tools.",
  admin: "The same as manage.",
  scim: "Push people and teams by SCIM (docs/scim.md); only owners give it.",
  "self:usage": "See its own usage and limits; a new key always has it.",
  "self:account-quota": unused,
  "guardrails:bypass": "Its requests are not held up by guardrails.",
  "policy:bypass-provider-quota": unused,
  "execute:completions": "Ask models by MCP tools. Every key may.",
  "execute:search": "Search the web by MCP tools. Every key may.",
  "execute:skills": "Use the tools of added MCP servers.",
  "pricing:write": unused,
  "read:cache": "See what the caches hold and save.",
  "read:catalog": "Read the pages of skills by MCP. Every key may.",
  "read:combos": "List combos, and see how they do.",
  "read:compression": "See the settings and savings of the compression.",
  "read:gamification": unused,
  "read:health": "See the health of the gateway, and why requests go where they go.",
  "read:memory": "Search its own memories.",
  "read:metrics": "Read /metrics from another machine.",
  "read:models": "List by MCP what can be asked for. Every key may.",
  "read:notion": unused,
  "read:obsidian": unused,
  "read:plugins": unused,
  "read:proxies": unused,
  "read:quota": "See what is left of the quotas of connections.",
  "read:skills": unused,
  "read:tools": "Find MCP tools by words, and read their schemas. Every key may.",
  "read:usage": "See usage and cost of all keys, and the log of requests.",
  "write:budget": "Set budgets of keys.",
  "write:cache": "Empty the caches.",
  "write:combos": "Switch combos on and off, and set their strategy.",
  "write:compression": "Set the compression.",
  "write:gamification": unused,
  "write:memory": "Add and remove its own memories.",
  "write:notion": unused,
  "write:obsidian": unused,
  "write:plugins": unused,
  "write:resilience": "Set breakers, cooldowns and time-outs.",
  "write:skills": unused
}

/** Each with what it is for. */
export const scopeLines: ReadonlyArray<readonly [scope: string, words: string]> = Object.entries(scopeWords)
