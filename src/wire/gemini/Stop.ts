/** Finish reasons of the gemini wire, both ways. */
import type { UpstreamProblem } from "../canonical/Event.ts"
import type { Stop, StopReason } from "../canonical/Response.ts"

const reasons: Readonly<Record<string, StopReason>> = {
  STOP: "stop",
  MAX_TOKENS: "length",
  SAFETY: "content_filter",
  RECITATION: "content_filter",
  LANGUAGE: "content_filter",
  BLOCKLIST: "content_filter",
  PROHIBITED_CONTENT: "content_filter",
  SPII: "content_filter",
  MODEL_ARMOR: "content_filter",
  IMAGE_SAFETY: "content_filter",
  IMAGE_PROHIBITED_CONTENT: "content_filter",
  IMAGE_RECITATION: "content_filter",
  OTHER: "other"
}

/** The model broke off, or its output could not be read: what came before is no whole answer. */
const failures = new Set([
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE"
])

/** The failure a finish reason stands for; null for a proper end. */
export const failureOf = (raw: string, message: string | null): UpstreamProblem | null =>
  failures.has(raw)
    ? { status: 502, message: message ?? `The upstream's model broke off: ${raw}.`, type: raw, code: null }
    : null

/** A finish reason as the canonical stop. The wire says `STOP` also when it waits for results of calls. */
export const decodeStop = (raw: string, hasToolCalls: boolean): Stop => {
  const reason = Object.hasOwn(reasons, raw) ? (reasons[raw] ?? "other") : "other"
  return { reason: reason === "stop" && hasToolCalls ? "tool_calls" : reason, raw, sequence: null }
}

/** `promptFeedback.blockReason`: the prompt itself was refused, and there is no candidate. */
export const blockedStop = (raw: string): Stop => ({ reason: "content_filter", raw, sequence: null })

const words: Readonly<Record<StopReason, string>> = {
  stop: "STOP",
  stop_sequence: "STOP",
  tool_calls: "STOP",
  // The wire has no word for "ask again": the turn is simply over.
  pause: "STOP",
  length: "MAX_TOKENS",
  context_window: "MAX_TOKENS",
  content_filter: "SAFETY",
  other: "OTHER"
}

/** The provider's own word where it is one of this wire. */
export const encodeStop = ({ raw, reason }: Stop): string =>
  Object.hasOwn(reasons, raw) && reasons[raw] === reason ? raw : words[reason]
