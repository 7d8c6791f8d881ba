/**
 * Requests of coding tools themselves (docs/routing.md). A tool is recognised by its own `User-Agent` on its own wire; its identifying headers go on
 * as they came, to its own provider or to a node that takes nothing else, and no other client is given such headers. Pure.
 */
import { headerOf } from "../../subjects/auth/Credentials.ts"
import { claudeCode, type OwnRequests, toolOf } from "../../agents/tools/catalogue/OwnRequests.ts"
import { codecs } from "../../wire/Codec.ts"
import type { Exchange } from "./Exchange.ts"

/** Null: no tool's, or of one that has no provider of its own. */
export const codingToolOf = ({ codec, headers, madeFor, wire }: Exchange): OwnRequests | null =>
  madeFor === "client" && codec === codecs[wire] ? toolOf(headerOf(headers, "user-agent") ?? "", wire) : null

export const isClaudeCode = (exchange: Exchange): boolean => codingToolOf(exchange) === claudeCode

/** Selects the client's headers that go on to an account, beside those of its wire; null: none. */
export const toolHeaders = (
  tool: OwnRequests | null,
  { id, onlyFor }: { readonly id: string; readonly onlyFor?: "claude-code" }
): RegExp | null =>
  onlyFor !== undefined ? claudeCode.headers : tool?.providers.includes(id) === true ? tool.headers : null
