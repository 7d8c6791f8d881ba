/**
 * Stop reasons of the messages wire, both ways.
 *
 * https://platform.claude.com/docs/en/build-with-claude/handling-stop-reasons
 */
import type { Stop, StopReason } from "../canonical/Response.ts"
import { type JsonObject, stringOr } from "../json/Json.ts"

const reasons: Readonly<Record<string, StopReason>> = {
  end_turn: "stop",
  stop_sequence: "stop_sequence",
  max_tokens: "length",
  tool_use: "tool_calls",
  refusal: "content_filter",
  pause_turn: "pause",
  model_context_window_exceeded: "context_window"
}

/** The stop of a message, or of a `message_delta`'s delta; null while there is none. */
export const decodeStop = (source: JsonObject): Stop | null => {
  const raw = stringOr(source["stop_reason"]) ?? ""
  if (raw === "") return null
  const reason = Object.hasOwn(reasons, raw) ? (reasons[raw] ?? "other") : "other"
  return { reason, raw, sequence: stringOr(source["stop_sequence"]) }
}

export const stopReasons: Readonly<Record<StopReason, string>> = {
  stop: "end_turn",
  stop_sequence: "stop_sequence",
  length: "max_tokens",
  context_window: "model_context_window_exceeded",
  tool_calls: "tool_use",
  pause: "pause_turn",
  content_filter: "refusal",
  other: "end_turn"
}
