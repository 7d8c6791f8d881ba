/** Errors of the chat wire (contract B2). All four members of `error` are always there. */
import type { ErrorView } from "../../domain/Errors.ts"
import type { JsonObject } from "../json/Json.ts"
import { encodeSse } from "../sse/SseScanner.ts"

export const renderError = (view: ErrorView, requestId: string): JsonObject => ({
  error: {
    message: view.message,
    type: view.type,
    code: view.code,
    param: view.param,
    ...(view.details.length === 0 ? {} : { details: view.details.map(({ field, message }) => ({ field, message })) }),
    ...(view.attempts.length === 0
      ? {}
      : {
          attempts: view.attempts.map(({ model, provider, reason, status }) => ({ provider, model, status, reason }))
        }),
    request_id: requestId
  }
})

/** One data line, and no `[DONE]` after it: the answer is not whole. */
export const renderStreamError = (view: ErrorView, requestId: string): string =>
  encodeSse(null, JSON.stringify(renderError(view, requestId)))
