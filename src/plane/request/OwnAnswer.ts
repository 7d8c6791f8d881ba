/** Answers of the gateway itself: errors in the client's own wire, and bodies that need no model. */
import { describe, type InferenceError } from "../../contract/domain/Errors.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import type { Exchange } from "./Exchange.ts"
import { errorHeaders, headerSafe, identityHeaders } from "./Headers.ts"

const isKeyLimit = (error: InferenceError): boolean =>
  error._tag === "LimitReached" || (error._tag === "TargetsUnavailable" && error.isKeyLimit)

/** An error in the client's own wire. `headers` is a flat name–value list. */
export const answerError = (exchange: Exchange, error: InferenceError, headers: ReadonlyArray<string> = []): void => {
  if (exchange.reply.isClosed()) return
  exchange.onError?.(error)
  const { codec } = exchange
  const described = describe(error)
  const limit = isKeyLimit(error) && described.resetsAtMs !== null ? codec.usedUpLimit : undefined
  const { headers: ofLimit, view } = limit?.(described, exchange.headers) ?? { headers: [], view: described }
  const body = JSON.stringify(codec.renderError(view, exchange.requestId))
  const all = errorHeaders(exchange.requestId, view, Buffer.byteLength(body), exchange.wire)
  all.push(...headers, ...ofLimit.map((each) => headerSafe(each)))
  exchange.reply.head(codec.errorStatus?.(view) ?? view.status, all)
  exchange.reply.end(body)
}

/** A body with status 200. `headers` is a flat name–value list. */
export const answerBody = (exchange: Exchange, body: JsonObject, headers: ReadonlyArray<string> = []): void => {
  const text = JSON.stringify(body)
  const all = identityHeaders(exchange.requestId)
  all.push("Content-Type", "application/json", "Content-Length", String(Buffer.byteLength(text)), ...headers)
  exchange.reply.head(200, all)
  exchange.reply.end(text)
}
