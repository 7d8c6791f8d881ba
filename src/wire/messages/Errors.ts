/** Errors of the messages wire (contract B2), with the types its clients tell apart. */
import type { ErrorView } from "../../domain/Errors.ts"
import type { JsonObject } from "../json/Json.ts"
import { encodeSse } from "../sse/SseScanner.ts"

const types: Readonly<Record<number, string>> = {
  401: "authentication_error",
  402: "billing_error",
  403: "permission_error",
  404: "not_found_error",
  413: "request_too_large",
  429: "rate_limit_error",
  504: "timeout_error",
  529: "overloaded_error"
}

const typeOf = (status: number): string => types[status] ?? (status >= 500 ? "api_error" : "invalid_request_error")

export const renderError = (view: ErrorView, requestId: string): JsonObject => ({
  type: "error",
  error: {
    type: typeOf(view.status),
    message: view.message,
    code: view.code,
    ...(view.details.length === 0 ? {} : { details: view.details.map(({ field, message }) => ({ field, message })) }),
    ...(view.attempts.length === 0
      ? {}
      : { attempts: view.attempts.map(({ model, provider, reason, status }) => ({ provider, model, status, reason })) })
  },
  request_id: requestId
})

/** The `error` event; no `message_stop` follows it. */
export const renderStreamError = (view: ErrorView, requestId: string): string =>
  encodeSse("error", JSON.stringify(renderError(view, requestId)))
