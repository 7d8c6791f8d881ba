/**
 * Coding tools with their own provider, the marks by which they are recognised among clients, and the headers in which they identify
 * themselves to that provider (docs/routing.md). None of these headers holds a credential. Pure.
 */
import type { WireName } from "../../../contract/domain/Wire.ts"

export interface OwnRequests {
  /** Pattern of the beginning of its `User-Agent`. */
  readonly agent: RegExp
  /** Wires on which it calls its own provider. */
  readonly wires: ReadonlyArray<WireName>
  /** Ids of the registry. */
  readonly providers: ReadonlyArray<string>
  /** Lower-case names. */
  readonly headers: RegExp
}

/** `claude-cli/2.0.14 (external, cli)` */
export const claudeCode: OwnRequests = {
  agent: /^claude-cli\/\d/,
  wires: ["messages"],
  providers: ["anthropic", "claude"],
  headers:
    /^(?:user-agent|x-app|anthropic-(?:version|beta|dangerous-direct-browser-access)|x-stainless-[a-z-]{1,40}|x-claude-code-[a-z-]{1,40})$/
}

/** Rules by the tool's id in the catalogue; null: its maker serves no models that the registry has. */
export const ownRequests: Readonly<Record<string, OwnRequests | null>> = {
  claude: claudeCode,
  // `codex_cli_rs/0.58.0 (Ubuntu 24.4.0; x86_64) xterm`, `codex_vscode/…`, `codex_exec/…`, `codex-tui/…`
  codex: {
    agent: /^codex[_-](?:cli_rs|vscode|exec|tui|sdk_ts)\/\d/,
    wires: ["responses"],
    providers: ["openai", "codex"],
    headers:
      /^(?:user-agent|originator|version|openai-beta|(?:session|conversation|thread)[_-]id|x-codex-[a-z-]{1,40}|x-openai-subagent)$/
  },
  // `GitHubCopilotChat/0.36.2`
  copilot: {
    agent: /^GitHubCopilotChat\/\d/,
    wires: ["chat", "responses"],
    providers: ["github"],
    headers:
      /^(?:user-agent|editor-(?:version|plugin-version)|copilot-(?:integration-id|vision-request)|openai-intent|x-initiator|x-interaction-(?:id|type)|x-github-api-version|x-vscode-user-agent-library-version)$/
  },
  // `GeminiCLI/0.24.0/gemini-2.5-pro (linux; x64)`
  gemini: {
    agent: /^GeminiCLI\/\d/,
    wires: ["gemini"],
    providers: ["gemini", "vertex", "vertex-express"],
    headers: /^(?:user-agent|x-goog-api-client|x-gemini-api-privileged-user-id)$/
  },
  // `Kilo-Code/4.100.0`
  kilo: {
    agent: /^Kilo-Code\/\d/,
    wires: ["chat"],
    providers: ["kilo-gateway"],
    headers:
      /^(?:user-agent|http-referer|x-title|x-kilocode-(?:version|taskid|mode|editorname)|x-stainless-[a-z-]{1,40})$/
  },
  // `opencode/1.1.20 ai-sdk/provider-utils/3.0.20`
  opencode: {
    agent: /^opencode\/\d/,
    wires: ["chat", "responses", "messages"],
    providers: ["opencode-zen", "opencode-go"],
    headers: /^(?:user-agent|http-referer|x-title|x-opencode-(?:project|session|request|client))$/
  },
  // `QwenCode/0.10.3 (linux; x64)`
  qwen: {
    agent: /^QwenCode\/\d/,
    wires: ["chat"],
    providers: ["alibaba", "alibaba-cn"],
    headers: /^(?:user-agent|x-dashscope-(?:useragent|cachecontrol|authtype)|x-stainless-[a-z-]{1,40})$/
  },
  droid: null,
  openclaw: null,
  cline: null,
  continue: null,
  aider: null,
  forge: null,
  crush: null,
  jcode: null,
  smelt: null,
  pi: null,
  "deepseek-tui": null,
  "cursor-cli": null,
  roo: null,
  "hermes-agent": null,
  goose: null,
  interpreter: null,
  warp: null,
  "agent-deck": null,
  custom: null,
  cursor: null,
  antigravity: null,
  kiro: null,
  hermes: null
}

const known: ReadonlyArray<OwnRequests> = Object.values(ownRequests).filter((own) => own !== null)

/** A longer one is no tool's. */
const maxAgentChars = 512

/** The tool that a request in this wire says it is of; null: none with a provider of its own. */
export const toolOf = (userAgent: string, wire: WireName): OwnRequests | null =>
  userAgent.length > maxAgentChars
    ? null
    : (known.find(({ agent, wires }) => wires.includes(wire) && agent.test(userAgent)) ?? null)
