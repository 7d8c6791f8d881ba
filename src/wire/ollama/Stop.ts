/**
 * Done reasons of the ollama wire, both ways.
 *
 * https://docs.ollama.com/api/chat
 */
import type { Stop, StopReason } from "../canonical/Response.ts"
import { type JsonObject, stringOr } from "../json/Json.ts"

/** Reasons of a server that was asked nothing: that a model was loaded, or unloaded, is no answer. */
const noAnswer: ReadonlySet<string> = new Set(["load", "unload"])

/** Null while the answer is not done, and where it is none. Older servers give no reason, and no server reports tool calls as one. */
export const decodeStop = (line: JsonObject, hasToolCalls: boolean): Stop | null => {
  if (line["done"] !== true) return null
  const raw = stringOr(line["done_reason"]) || "stop"
  if (noAnswer.has(raw)) return null
  if (raw === "stop") return { reason: hasToolCalls ? "tool_calls" : "stop", raw, sequence: null }
  const reason = raw === "length" || raw === "content_filter" ? raw : "other"
  return { reason, raw, sequence: null }
}

/** The wire has `stop` and `length`; the member is free text, so that a filtered answer need not look like a complete one. */
export const doneReasons: Readonly<Record<StopReason, "stop" | "length" | "content_filter">> = {
  stop: "stop",
  stop_sequence: "stop",
  length: "length",
  context_window: "length",
  tool_calls: "stop",
  pause: "stop",
  content_filter: "content_filter",
  other: "stop"
}
