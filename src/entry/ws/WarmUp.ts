/**
 * A request with `generate: false`: it asks for no answer, only for an id under which its input is remembered. Nothing is sent to
 * a provider. Pure.
 */
import { makeResponsesEventEncoder } from "../../wire/responses/StreamEncode.ts"
import type { StreamEvent } from "../../wire/canonical/Event.ts"
import type { JsonObject } from "../../wire/json/Json.ts"

export interface WarmUp {
  readonly responseId: string
  /** Events from `response.created` to `response.completed`. */
  readonly events: ReadonlyArray<JsonObject>
}

/** `request` is the client's own, so that its settings are repeated; `id` is unique to this request. */
export const warmUp = (request: JsonObject, model: string, id: string, nowMs: number): WarmUp => {
  const responseId = `resp_${id.replaceAll("-", "")}`
  const encoder = makeResponsesEventEncoder({ nowMs, fallbackId: responseId, model, wantsUsage: true, request })
  const told: ReadonlyArray<StreamEvent> = [
    { type: "start", id: responseId, model, createdMs: nowMs },
    { type: "finish", stop: { reason: "stop", raw: "completed", sequence: null } },
    { type: "done" }
  ]
  return { responseId, events: told.flatMap((event) => encoder.encode(event)) }
}
