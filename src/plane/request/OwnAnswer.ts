/** Answers of the gateway itself: errors in the client's own wire, and bodies that need no model. */
import { describe, type InferenceError } from "../../contract/domain/Errors.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import type { Exchange } from "./Exchange.ts"
import { errorHeaders, identityHeaders } from "./Headers.ts"

/** An error in the client's own wire. `headers` is a flat name–value list. */
export const answerError = (exchange: Exchange, error: InferenceError, headers: ReadonlyArray<string> = []): void => {
  if (exchange.reply.isClosed()) return
  exchange.onError?.(error)
  const view = describe(error)
  const { codec } = exchange
  const body = JSON.stringify(codec.renderError(view, exchange.requestId))
  const all = errorHeaders(exchange.requestId, view, Buffer.byteLength(body), exchange.wire)
  all.push(...headers)
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
