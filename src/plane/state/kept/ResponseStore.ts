/**
 * Answers of the responses wire by their id, so that `previous_response_id` works whatever upstream comes next, and over gateways on one database
 * whichever of them is asked. In memory and bounded; one that is gone is reported (`previous_response_not_found`), and clients then send the whole conversation.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ContentPermission } from "../../../contract/domain/ContentPermission.ts"
import { isArray, isObject, type JsonObject, parseJson } from "../../../wire/json/Json.ts"
import { Replica } from "../Replica.ts"
import { defaultLimits, makeResponseHistory, type ResponseHistory, weigh } from "./ResponseHistory.ts"

export class ResponseStore extends Context.Tag("gateway/plane/state/ResponseStore")<
  ResponseStore,
  Pick<ResponseHistory, "expand" | "referred"> & {
    readonly remember: (permission: ContentPermission, ...answer: Parameters<ResponseHistory["remember"]>) => void
  }
>() {}

export const layer: Layer.Layer<ResponseStore> = Layer.effect(
  ResponseStore,
  Effect.map(Replica, ({ isOverNodes, kept }) => {
    const { added, expand, extend, referred, remember } = makeResponseHistory(defaultLimits)
    if (!isOverNodes) {
      // Of workers one has all that is asked for by an id (entry/relay/Home).
      return ResponseStore.of({ expand, referred, remember: (_permission, ...answer) => remember(...answer) })
    }
    const extendEverywhere = kept("turn", extend, (_owner, _responseId, { items }) => weigh([...items]))
    return ResponseStore.of({
      expand,
      referred,
      remember: (_permission, owner, responseId, turn) => extendEverywhere(owner, responseId, added(owner, turn))
    })
  })
)

const endings = ["response.completed", "response.incomplete"]

/** The finished response in the events a client of the responses wire gets; null when none of them ends it. */
export const finishedInEvents = (bytes: Buffer | string): JsonObject | null => {
  if (!endings.some((ending) => bytes.includes(ending))) return null
  for (const line of bytes.toString().split(/\r\n|\r|\n/)) {
    if (!line.startsWith("data:") || !endings.some((ending) => line.includes(ending))) continue
    const event = parseJson(line.slice(5))
    if (!isObject(event) || !endings.includes(String(event["type"]))) continue
    const { response } = event
    if (isObject(response) && isArray(response["output"])) return response
  }
  return null
}
