/**
 * Finish reasons of the gemini wire, both ways.
 *
 * https://ai.google.dev/api/generate-content#FinishReason
 */
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

/** The model failed, or its output could not be parsed: what came before is not a complete answer. */
const failures = new Set([
  "MALFORMED_FUNCTION_CALL",
  "MALFORMED_RESPONSE",
  "UNEXPECTED_TOOL_CALL",
  "TOO_MANY_TOOL_CALLS",
  "MISSING_THOUGHT_SIGNATURE"
])

/** The failure of a finish reason; null for a normal end. */
export const failureOf = (raw: string, message: string | null): UpstreamProblem | null =>
  failures.has(raw)
    ? { status: 502, message: message ?? `The upstream's model broke off: ${raw}.`, type: raw, code: null }
    : null

/** A finish reason as the canonical stop. The wire sends `STOP` also when it waits for results of calls. */
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
  // The wire cannot express a pause: the turn ends.
  pause: "STOP",
  length: "MAX_TOKENS",
  context_window: "MAX_TOKENS",
  content_filter: "SAFETY",
  other: "OTHER"
}

/** The provider's own value where it is one of this wire. */
export const encodeStop = ({ raw, reason }: Stop): string =>
  Object.hasOwn(reasons, raw) && reasons[raw] === reason ? raw : words[reason]
