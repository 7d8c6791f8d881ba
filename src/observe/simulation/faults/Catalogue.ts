/** Effects of each fault: data with a total type, in the terms that the classifier's table is read with. */
import type { FaultName } from "../../../contract/domain/SimulatedFaults.ts"
import type { FailureCause } from "../../../plane/resilience/failure/Signal.ts"
import type { Fault, FaultTiming, FaultSignal } from "./Fault.ts"

type Words = Extract<FaultSignal, { readonly status: number }>

const httpDate = (epochMs: number): string => new Date(epochMs).toUTCString()

const refusal = (about: string, words: Words, more: Partial<Fault> = {}): Fault => ({
  about,
  pace: "refusal",
  says: () => words,
  ...more
})

const call = (about: string, cause: FailureCause, pace: FaultTiming, more: Partial<Fault> = {}): Fault => ({
  about,
  pace,
  says: () => ({ cause }),
  ...more
})

const harmless = (about: string, pace: FaultTiming = "answer"): Fault => ({ about, pace, says: null })

const slowDown = { status: 429, message: "Slow down, please.", type: "rate_limit_error" } as const

const limited = (about: string, headers: (nowMs: number) => Readonly<Record<string, string>>): Fault => ({
  about,
  pace: "refusal",
  says: (nowMs) => ({ ...slowDown, headers: headers(nowMs) })
})

const trouble = (status: number): Fault =>
  refusal(`answers ${status}`, { status, message: "The kitchen is on fire.", type: "server_error" }, { pace: "answer" })

/** A clock that is two hours ahead. */
const skewMs = 7_200_000

export const faults: Readonly<Record<FaultName, Fault>> = {
  "connection-refused": call("no server listens there", "refused", "at_once"),
  "dns-failure": call("the name does not exist", "dns", "at_once"),
  "tls-failure": call("its certificate is not trusted", "tls", "at_once"),
  "reset-before-headers": call("the connection breaks before an answer", "reset", "at_once"),
  "connect-timeout": call("the connection never comes about", "connect_timeout", "connect"),
  "no-response": call("it never answers", "first_byte_timeout", "first_byte"),
  "headers-then-silence": call("headers, and then nothing", "first_byte_timeout", "first_byte"),
  "half-then-silence": call("half of the answer, and then nothing", "idle_timeout", "half_then_idle", { midway: true }),
  "slow-drip": harmless("answers five times slower", "drip"),

  "429": refusal("too many requests, without a hint", slowDown),
  "429-retry-after-seconds": limited("too many requests, come back in 7 s", () => ({ "retry-after": "7" })),
  "429-retry-after-date": limited("too many requests, come back at a time in 40 s", (nowMs) => ({
    "retry-after": httpDate(nowMs + 40_000)
  })),
  "429-retry-after-far": limited("too many requests, come back in ten days", () => ({ "retry-after": "864000" })),
  "429-clock-skew": limited("come back in 40 s, by a clock two hours ahead", (nowMs) => ({
    date: httpDate(nowMs + skewMs),
    "retry-after": httpDate(nowMs + skewMs + 40_000)
  })),
  "429-quota": refusal("the plan's quota is used up; without a time of its reset", {
    status: 429,
    message: "You exceeded your current quota, please check your plan and billing details.",
    type: "insufficient_quota",
    code: "insufficient_quota"
  }),
  "429-daily-quota": refusal("the account is used up until tomorrow", {
    status: 429,
    message: "Daily limit reached for free requests. Try again tomorrow.",
    code: "dailyLimitExceeded"
  }),
  "429-model-quota": refusal("the model's own quota is used up for an hour", {
    status: 429,
    message: "The quota of this model is used up.",
    code: "model_quota_exceeded"
  }),

  "401-refreshable": refusal(
    "the access token has run out; a new one is to be had",
    { status: 401, message: "The access token has expired." },
    { token: "renewable" }
  ),
  "401-refresh-in-vain": refusal(
    "the login was ended; no new token is to be had",
    { status: 401, message: "This login was ended." },
    { token: "lost" }
  ),
  "401-dead": refusal("the key is wrong", {
    status: 401,
    message: "Incorrect API key provided.",
    type: "authentication_error",
    code: "invalid_api_key"
  }),
  "402": refusal("the money is used up", {
    status: 402,
    message: "Your credit balance is used up.",
    type: "billing_error"
  }),
  "403-banned": refusal("the account is suspended", {
    status: 403,
    message: "Your account has been suspended for a violation of our terms.",
    type: "permission_error",
    code: "account_deactivated"
  }),
  "403": refusal("refused without saying why", {
    status: 403,
    message: "You may not do this.",
    type: "permission_error"
  }),
  "404-model": refusal("does not know the model", {
    status: 404,
    message: "The model does not exist.",
    code: "model_not_found"
  }),
  "404-no-access": refusal("has the model, but not for this account", {
    status: 404,
    message: "Your plan does not include this model.",
    code: "model_no_access"
  }),
  "400-context-overflow": refusal("the conversation does not fit", {
    status: 400,
    message: "This model's maximum context length is 8192 tokens, you asked for 9000.",
    code: "context_length_exceeded"
  }),
  "400": refusal("the request is wrong", {
    status: 400,
    message: "Invalid value for 'temperature': must be at most 2."
  }),
  "400-content-refused": refusal("does not want this content", {
    status: 400,
    message: "The content was filtered.",
    code: "content_filter"
  }),
  "413": refusal("the request is too large for it", { status: 413, message: "Payload too large." }),

  "500": trouble(500),
  "502": trouble(502),
  "503": trouble(503),
  "503-retry-after": refusal("answers 503, come back in 30 s", {
    status: 503,
    message: "The kitchen is on fire.",
    type: "server_error",
    headers: { "retry-after": "30" }
  }),
  "504": trouble(504),
  "529": refusal("overloaded", { status: 529, message: "The kitchen is on fire.", type: "server_error" }),
  "502-html": refusal("a proxy's error page", {
    status: 502,
    message: "",
    page: "<!DOCTYPE html><html><body>502 Bad Gateway</body></html>"
  }),

  "200-html": call("a web page instead of an answer", "bad_answer", "answer"),
  "200-error-body": refusal("an error that claims success", {
    status: 200,
    message: "The kitchen is closed.",
    type: "server_error"
  }),
  "200-empty-answer": call("an answer without content", "empty_answer", "answer"),
  "error-event-first": refusal("an error event before the first content", {
    status: 200,
    message: "The oven broke down.",
    type: "server_error"
  }),
  "error-event-midway": refusal(
    "an error event after content",
    { status: 200, message: "The oven broke down.", type: "server_error" },
    { midway: true, pace: "half" }
  ),
  "cut-mid-text": call("the text breaks off", "truncated_stream", "half", { midway: true }),
  "cut-mid-tool-call": call("a tool call breaks off", "truncated_stream", "half", { midway: true }),
  "cut-mid-letter": call("breaks off inside of a letter", "truncated_stream", "half", { midway: true }),
  "no-finish-reason": call("all the text, but no end", "truncated_stream", "answer", { midway: true }),
  "end-without-finish-reason": harmless("says that it is done, but not why"),
  "terminator-twice": harmless("says twice that it is done"),
  "content-type-plain": harmless("calls its answer plain text"),
  "gzip-garbage": call("says gzip, and is not", "protocol", "answer"),
  "100-megabytes": call("an answer beyond every limit", "answer_too_large", "drip"),
  "usage-missing": harmless("does not say what it used")
}
