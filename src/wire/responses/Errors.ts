/** Errors of the responses wire (contract B2): the body is that of the chat wire, the stream has an event of its own. */
import type { ErrorView } from "../../domain/Errors.ts"
import { renderError } from "../chat/Errors.ts"
import type { JsonObject } from "../json/Json.ts"
import { encodeSse } from "../sse/SseScanner.ts"

export { renderError }

/** How many events went before is not known here; the highest number keeps the order. */
const lastSequenceNumber = 2_147_483_647

/** The `error` event. Its members stand both ways clients read them: at the top, and in `error` as in a body. */
export const errorEvent = (view: ErrorView, requestId: string): JsonObject => ({
  type: "error",
  sequence_number: lastSequenceNumber,
  code: view.code,
  message: view.message,
  param: view.param,
  ...renderError(view, requestId)
})

/** No `response.completed` follows it. */
export const renderStreamError = (view: ErrorView, requestId: string): string =>
  encodeSse("error", JSON.stringify(errorEvent(view, requestId)))
