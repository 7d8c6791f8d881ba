/**
 * Finish reasons of the chat wire, both ways.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import type { Stop, StopReason } from "../canonical/Response.ts"

const reasons: Readonly<Record<string, StopReason>> = {
  stop: "stop",
  eos: "stop",
  end_turn: "stop",
  stop_sequence: "stop_sequence",
  length: "length",
  max_tokens: "length",
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  content_filter: "content_filter"
}

/** A finish reason as the canonical stop. Some providers send `stop` after tool calls, so the calls decide. */
export const decodeStop = (raw: string, hasToolCalls: boolean): Stop => {
  const reason = Object.hasOwn(reasons, raw) ? (reasons[raw] ?? "other") : "other"
  return { reason: reason === "stop" && hasToolCalls ? "tool_calls" : reason, raw, sequence: null }
}

export const finishReasons: Readonly<Record<StopReason, "stop" | "length" | "tool_calls" | "content_filter">> = {
  stop: "stop",
  stop_sequence: "stop",
  length: "length",
  context_window: "length",
  tool_calls: "tool_calls",
  // The wire cannot express a pause: the turn ends.
  pause: "stop",
  content_filter: "content_filter",
  other: "stop"
}
