/**
 * Requests of Claude Code itself, for provider nodes that take nothing else (docs/routing.md). It is told by its own `User-Agent` on its own wire; what it
 * says of itself goes on as it came, and no other client is given such words. Pure.
 */
import { headerOf } from "../../auth/Credentials.ts"
import { codecs } from "../../wire/Codec.ts"
import type { Exchange } from "./Exchange.ts"

/** `claude-cli/2.0.14 (external, cli)` */
const agent = /^claude-cli\/\d/

export const isClaudeCode = ({ codec, headers, madeFor, wire }: Exchange): boolean =>
  madeFor === "client" &&
  codec === codecs.messages &&
  wire === "messages" &&
  agent.test(headerOf(headers, "user-agent") ?? "")

/** Headers in which it tells of itself and of what it wants. None of them holds a credential. */
export const claudeCodeHeaders =
  /^(?:user-agent|x-app|anthropic-(?:version|beta|dangerous-direct-browser-access)|x-stainless-[a-z-]{1,40}|x-claude-code-[a-z-]{1,40})$/
