/**
 * Errors of the gemini wire: a numeric code, the name of the status, and typed details.
 * https://cloud.google.com/apis/design/errors
 */
import type { ErrorView } from "../../contract/domain/Errors.ts"
import { attemptsMember, nativeOf } from "../canonical/NativeError.ts"
import { inputTokenCountExceeds } from "../canonical/Overflow.ts"
import type { JsonObject } from "../json/Json.ts"
import { arrayEnd, arrayFraming, lastElement } from "./stream/Framing.ts"

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

/**
 * A quota that is not renewed soon. Google's clients stop at once on a daily quota and retry any other 429; other providers do not
 * report the length of their window.
 */
const usedUp: JsonObject = {
  "@type": "type.googleapis.com/google.rpc.QuotaFailure",
  violations: [{ quotaId: "UpstreamQuotaPerDay", description: "The quota of the upstream account is used up." }]
}

/** Field problems, the quota and the time to wait, where the wire's clients read them. */
const detailsOf = ({ details, kind, retryAfterMs }: ErrorView): ReadonlyArray<JsonObject> => [
  ...(kind === "insufficient_quota" || kind === "usage_limit" ? [usedUp] : []),
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
      message: view.kind === "context_overflow" ? inputTokenCountExceeds(view.message) : view.message,
      status: statusOf(view.status),
      ...(details.length === 0 ? {} : { details }),
      ...nativeOf(view, ["gemini"]),
      ...attemptsMember(view),
      request_id: requestId
    }
  }
}

/**
 * The error as an event, and again as bare JSON after it. Readers of events use the first; Google's own JavaScript client takes an
 * error event for an empty chunk and a normal end, but fails on a stream that ends in bare text.
 */
export const errorBodyInStream = (body: JsonObject): string => {
  const json = JSON.stringify(body)
  return `data: ${json}\n\n${json}`
}

export const renderStreamError = (view: ErrorView, requestId: string): string =>
  errorBodyInStream(renderError(view, requestId))

/** The error as the only element of an array. */
export const errorBodyInArray = (body: JsonObject): string => arrayFraming().chunk(JSON.stringify(body)) + arrayEnd

/** The error as the last element of an array, which already has one: a stream begins with its first chunk. */
export const renderArrayError = (view: ErrorView, requestId: string): string =>
  lastElement(JSON.stringify(renderError(view, requestId)))
