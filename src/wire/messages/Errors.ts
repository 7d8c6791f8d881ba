/** Errors of the messages wire, with the types its clients distinguish: https://platform.claude.com/docs/en/api/errors */
import type { ErrorKind } from "../../contract/domain/ErrorKind.ts"
import type { ErrorView } from "../../contract/domain/Errors.ts"
import { attemptsMember, nativeOf } from "../canonical/NativeError.ts"
import { promptTooLong } from "../canonical/Overflow.ts"
import type { JsonObject } from "../json/Json.ts"
import { encodeSse } from "../sse/SseScanner.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"

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

/** Types of failures whose status alone would give another type. */
const typeOfKind: Readonly<Partial<Record<ErrorKind, string>>> = {
  insufficient_quota: "billing_error",
  usage_limit: "invalid_request_error",
  rate_limit: "rate_limit_error",
  overloaded: "overloaded_error",
  content_refused: "invalid_request_error",
  context_overflow: "invalid_request_error",
  model_not_found: "not_found_error"
}

const typeOf = ({ kind, status }: ErrorView): string =>
  (kind === null ? undefined : typeOfKind[kind]) ??
  types[status] ??
  (status >= 500 ? "api_error" : "invalid_request_error")

/**
 * An exhausted balance is 402 on this wire, and a limit that is renewed at a date 400 (https://platform.claude.com/docs/en/api/errors,
 * https://platform.claude.com/docs/en/api/rate-limits): clients of this wire retry the 429 that other providers send. The status of an
 * upstream of this wire is kept.
 */
const statusOfKind: Readonly<Partial<Record<ErrorKind, number>>> = { insufficient_quota: 402, usage_limit: 400 }

const isForeign = ({ native }: ErrorView): boolean => native?.wire !== "messages"

export const errorStatus = (view: ErrorView): number =>
  view.status === 429 && view.kind !== null && isForeign(view) ? (statusOfKind[view.kind] ?? 429) : view.status

/** Sentences that make clients retry, whatever the status: about a rate, a retry, or with a link about them. */
const invitesRetry = /rate[ _-]?limit|too many requests|exhausted|try again|retry|https?:/i

const atMinute = (ms: number): string => {
  const text = new Date(Math.ceil(ms / 60_000) * 60_000).toISOString()
  return `${text.slice(0, 10)} at ${text.slice(11, 16)} UTC`
}

/** Anthropic's own message, with the time at which the limit is renewed. */
const limitReached = ({ message, resetsAtMs }: ErrorView): string => {
  const said = message.split(/(?<=[.!?])\s+/u).filter((sentence) => sentence !== "" && !invitesRetry.test(sentence))
  const reached = ["You have reached your API usage limits", ...(said.length === 0 ? [] : [said.join(" ")])].join(": ")
  const whole = asSentence(reached)
  return resetsAtMs === null ? whole : `${whole} You will regain access on ${atMinute(resetsAtMs)}.`
}

const messageOf = (view: ErrorView): string => {
  if (view.kind === "context_overflow") return promptTooLong(view.message)
  return view.kind === "usage_limit" && isForeign(view) ? limitReached(view) : view.message
}

/** Clients retry on the code `rate_limit_exceeded`, whatever the status. */
const usedUpCode: Readonly<Partial<Record<ErrorKind, string>>> = {
  insufficient_quota: "insufficient_quota",
  usage_limit: "usage_limit_reached"
}

const codeOf = ({ code, kind }: ErrorView): string =>
  (code === "rate_limit_exceeded" && kind !== null ? usedUpCode[kind] : undefined) ?? code

/**
 * Gives the reported attempt the status and code of the answer, because opencode retries when it finds a 429 anywhere in the answer.
 */
const attemptsOf = (view: ErrorView): JsonObject => {
  const status = errorStatus(view)
  const last = view.attempts.at(-1)
  if (last === undefined || status === view.status || last.status !== view.status) return attemptsMember(view)
  return attemptsMember({
    ...view,
    attempts: [...view.attempts.slice(0, -1), { ...last, status, reason: codeOf(view) }]
  })
}

export const renderError = (view: ErrorView, requestId: string): JsonObject => ({
  type: "error",
  error: {
    type: typeOf(view),
    message: messageOf(view),
    code: codeOf(view),
    ...nativeOf(view, ["messages"]),
    ...(view.details.length === 0 ? {} : { details: view.details.map(({ field, message }) => ({ field, message })) }),
    ...attemptsOf(view)
  },
  request_id: requestId
})

/** The `error` event; no `message_stop` follows it. */
export const errorBodyInStream = (body: JsonObject): string => encodeSse("error", JSON.stringify(body))

export const renderStreamError = (view: ErrorView, requestId: string): string =>
  errorBodyInStream(renderError(view, requestId))
