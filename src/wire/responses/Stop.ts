/** Stop reasons of the responses wire, both ways. It has no word for "waits for tool results": the calls in the output say it. */
import type { Stop, StopReason } from "../canonical/Response.ts"
import { type JsonObject, objectOr, stringOr } from "../json/Json.ts"

/** `status` of an answer; null when it is not over, or failed. Some servers send a whole answer without a status. */
export const decodeStop = (response: JsonObject, hasToolCalls: boolean): Stop | null => {
  const status = stringOr(response["status"]) ?? "completed"
  if (status === "completed") return { reason: hasToolCalls ? "tool_calls" : "stop", raw: status, sequence: null }
  if (status !== "incomplete") return null
  const raw = stringOr(objectOr(response["incomplete_details"])["reason"]) ?? status
  const reason = raw === "content_filter" ? raw : raw === "max_output_tokens" || raw === status ? "length" : "other"
  return { reason, raw, sequence: null }
}

/** Why an answer is incomplete; null when it counts as completed. */
export const incompleteReasons: Readonly<Record<StopReason, "max_output_tokens" | "content_filter" | null>> = {
  stop: null,
  stop_sequence: null,
  length: "max_output_tokens",
  context_window: "max_output_tokens",
  tool_calls: null,
  // The wire has no word for "ask again": the turn is simply over.
  pause: null,
  content_filter: "content_filter",
  other: null
}
