/** Reads the error of an upstream from any body: every known shape, plain text, or a proxy's HTML page. */
import type { UpstreamProblem } from "./canonical/Event.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, parseJson, stringOr } from "./json/Json.ts"

const maxMessageChars = 2000

const short = (text: string): string => {
  const flat = text.trim()
  return flat.length > maxMessageChars ? `${flat.slice(0, maxMessageChars)}…` : flat
}

const codeOf = (value: Json | undefined): string | null => (typeof value === "number" ? String(value) : stringOr(value))

/** FastAPI-style `detail: [{loc, msg}]`, and `errors: [{message}]`. */
const listMessage = (value: Json | undefined): string | null => {
  if (!isArray(value)) return null
  const texts = value.flatMap((item) =>
    isObject(item) ? (stringOr(item["msg"]) ?? stringOr(item["message"]) ?? []) : (stringOr(item) ?? [])
  )
  return texts.length === 0 ? null : texts.join("; ")
}

const messageOf = (body: JsonObject): string | null =>
  stringOr(body["message"]) ??
  stringOr(body["msg"]) ??
  stringOr(body["detail"]) ??
  stringOr(objectOr(body["detail"])["error"]) ??
  stringOr(body["error_description"]) ??
  listMessage(body["detail"]) ??
  listMessage(body["errors"])

/** A longer wait is ignored. */
const maxRetryAfterMs = 31 * 86_400_000

/** `retryDelay` ("34.5s") of the `RetryInfo` among Google's error details. */
const retryAfterOf = (error: JsonObject): { readonly retryAfterMs?: number } => {
  const { details } = error
  for (const detail of isArray(details) ? details : []) {
    if (!isObject(detail) || stringOr(detail["@type"])?.endsWith("google.rpc.RetryInfo") !== true) continue
    const seconds = /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(stringOr(detail["retryDelay"]) ?? "")?.[1]
    if (seconds !== undefined) return { retryAfterMs: Math.min(Math.ceil(Number(seconds) * 1000), maxRetryAfterMs) }
  }
  return {}
}

/** A larger error object is not passed on as it is. */
const maxNativeChars = 16_384

/** The error object, for a client of the same wire. */
const nativeIn = (error: Json | undefined): { readonly native?: JsonObject } =>
  isObject(error) && JSON.stringify(error).length <= maxNativeChars ? { native: error } : {}

/** The problem in a parsed body; null when it does not look like an error. `status` is used where the body has none of its own. */
export const problemOfJson = (status: number, parsed: Json | undefined): UpstreamProblem | null => {
  const body = isArray(parsed) ? parsed[0] : parsed
  if (!isObject(body)) return null
  const error = body["error"]
  if (typeof error === "string" && error !== "") {
    return { status, message: short(messageOf(body) ?? error), type: null, code: codeOf(body["code"]) }
  }
  const source = isObject(error) ? error : body
  const message = messageOf(source)
  if (!isObject(error) && message === null) return null
  return {
    status,
    message: short(message ?? JSON.stringify(error)),
    type: stringOr(source["type"]) ?? stringOr(source["status"]),
    code: codeOf(source["code"]),
    ...retryAfterOf(source),
    ...nativeIn(error)
  }
}

const htmlTitle = (html: string): string => {
  const title = /<title[^>]*>([^<]{1,200})/i.exec(html)?.[1] ?? /<h1[^>]*>([^<]{1,200})/i.exec(html)?.[1]
  return title === undefined ? "" : `: ${title.replaceAll(/\s+/g, " ").trim()}`
}

/** Total: any body becomes a problem with a message that can be shown. */
export const readUpstreamError = (status: number, bodyText: string): UpstreamProblem => {
  const text = bodyText.trim()
  const problem = text.startsWith("{") || text.startsWith("[") ? problemOfJson(status, parseJson(text)) : null
  if (problem !== null && problem.message !== "") return problem
  const message =
    text === ""
      ? `The upstream answered ${status} without a body.`
      : /^<(!doctype|html|head|body|\?xml|center|h1)/i.test(text)
        ? `The upstream answered ${status} with a web page${htmlTitle(text.slice(0, 16_384))}.`
        : short(text)
  return { status, message, type: null, code: null }
}

const statusByWord: Readonly<Record<string, number>> = {
  invalid_request_error: 400,
  invalid_request: 400,
  authentication_error: 401,
  invalid_api_key: 401,
  billing_error: 402,
  permission_error: 403,
  insufficient_quota: 429,
  not_found_error: 404,
  model_not_found: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  rate_limit_exceeded: 429,
  tokens: 429,
  requests: 429,
  timeout_error: 504,
  service_unavailable: 503,
  overloaded_error: 529,
  overloaded: 529,
  api_error: 500,
  server_error: 500
}

/** The status of an error inside a stream: its own numeric code, or the one for its type or code; else 502. */
export const streamProblem = (parsed: Json | undefined): UpstreamProblem => {
  const problem = problemOfJson(502, parsed) ?? {
    status: 502,
    message: "The upstream reported a failure inside its stream.",
    type: null,
    code: null
  }
  const numeric = Number(problem.code)
  const status =
    Number.isInteger(numeric) && numeric >= 400 && numeric <= 599
      ? numeric
      : (statusByWord[problem.type ?? ""] ?? statusByWord[problem.code ?? ""] ?? 502)
  return { ...problem, status }
}

/**
 * The type of an event, on wires whose events have one. Servers and the proxies in front of them report a failure as an error object
 * without a type, like the body of an error status.
 */
export const eventTypeOf = (event: JsonObject): string => {
  const type = stringOr(event["type"])
  if (type !== null) return type
  return isObject(event["error"]) || typeof event["error"] === "string" ? "error" : ""
}

/** Code of a problem that is our own limit and no failure of the upstream. */
export const answerTooLarge = "answer_too_large"

/** A stream that ended before the answer was complete. */
export const incompleteStream: UpstreamProblem = {
  status: 502,
  message: "The upstream's stream ended before the answer was complete.",
  type: null,
  code: "incomplete_stream"
}

/** A proxy that lost its upstream and retried wrote another answer into the same stream: the first is incomplete. */
export const secondAnswer: UpstreamProblem = {
  ...incompleteStream,
  message: "The upstream began another answer in its stream before the first was complete."
}

/** Data that was meant as an event of the answer; other text that is not JSON is a keep-alive of some proxies. */
export const isTornEvent = (data: string): boolean => data.trimStart().startsWith("{")

/** The torn event may have contained a part of the answer. */
export const tornEvent: UpstreamProblem = {
  ...incompleteStream,
  message: "The upstream's stream holds an event that cannot be read."
}
