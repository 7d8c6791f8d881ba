/** Errors of the gemini wire (contract B2): a numeric code, the name of the status, and typed details. */
import type { ErrorView } from "../../domain/Errors.ts"
import type { JsonObject } from "../json/Json.ts"
import { lastElement } from "./Framing.ts"

const statuses: Readonly<Record<number, string>> = {
  401: "UNAUTHENTICATED",
  402: "FAILED_PRECONDITION",
  403: "PERMISSION_DENIED",
  404: "NOT_FOUND",
  409: "ABORTED",
  412: "FAILED_PRECONDITION",
  429: "RESOURCE_EXHAUSTED",
  499: "CANCELLED",
  501: "UNIMPLEMENTED",
  502: "UNAVAILABLE",
  503: "UNAVAILABLE",
  504: "DEADLINE_EXCEEDED",
  529: "UNAVAILABLE"
}

const statusOf = (status: number): string => statuses[status] ?? (status >= 500 ? "INTERNAL" : "INVALID_ARGUMENT")

/** Field problems and the time to wait, where the wire's clients look for them. */
const detailsOf = ({ details, retryAfterMs }: ErrorView): ReadonlyArray<JsonObject> => [
  ...(details.length === 0
    ? []
    : [
        {
          "@type": "type.googleapis.com/google.rpc.BadRequest",
          fieldViolations: details.map(({ field, message }) => ({ field, description: message }))
        }
      ]),
  ...(retryAfterMs === null
    ? []
    : [
        {
          "@type": "type.googleapis.com/google.rpc.RetryInfo",
          retryDelay: `${Math.ceil(Math.max(0, retryAfterMs) / 1000)}s`
        }
      ])
]

export const renderError = (view: ErrorView, requestId: string): JsonObject => {
  const details = detailsOf(view)
  return {
    error: {
      code: view.status,
      message: view.message,
      status: statusOf(view.status),
      ...(details.length === 0 ? {} : { details }),
      ...(view.attempts.length === 0
        ? {}
        : {
            attempts: view.attempts.map(({ model, provider, reason, status }) => ({ provider, model, status, reason }))
          }),
      request_id: requestId
    }
  }
}

/**
 * The error as an event, and once more as bare JSON behind it. Readers of events find the first; Google's own JavaScript client
 * takes an error event for an empty chunk and the end for a proper one, but refuses a stream that ends in bare text.
 */
export const renderStreamError = (view: ErrorView, requestId: string): string => {
  const json = JSON.stringify(renderError(view, requestId))
  return `data: ${json}\n\n${json}`
}

/** The error as the last element of an array, which has had one before: a stream begins with its first chunk. */
export const renderArrayError = (view: ErrorView, requestId: string): string =>
  lastElement(JSON.stringify(renderError(view, requestId)))
