/**
 * Stop reasons of the responses wire, both ways. It has none for tool calls: the calls in the output decide.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import type { Stop, StopReason } from "../canonical/Response.ts"
import { type JsonObject, objectOr, stringOr } from "../json/Json.ts"

/** `status` of an answer; null when it is not finished, or failed. Some servers send a complete answer without a status. */
export const decodeStop = (response: JsonObject, hasToolCalls: boolean): Stop | null => {
  const status = stringOr(response["status"]) ?? "completed"
  if (status === "completed") return { reason: hasToolCalls ? "tool_calls" : "stop", raw: status, sequence: null }
  if (status !== "incomplete") return null
  const raw = stringOr(objectOr(response["incomplete_details"])["reason"]) ?? status
  const reason = raw === "content_filter" ? raw : raw === "max_output_tokens" || raw === status ? "length" : "other"
  return { reason, raw, sequence: null }
}

/** Reasons for which an answer is incomplete; null when it counts as completed. */
export const incompleteReasons: Readonly<Record<StopReason, "max_output_tokens" | "content_filter" | null>> = {
  stop: null,
  stop_sequence: null,
  length: "max_output_tokens",
  context_window: "max_output_tokens",
  tool_calls: null,
  // The wire cannot express a pause: the turn ends.
  pause: null,
  content_filter: "content_filter",
  other: null
}
