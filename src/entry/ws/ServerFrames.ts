/** Frames sent by the gateway: the events of a responses stream, one JSON object per text frame. Pure. */
import { errorView, type ErrorView, typeAndCode } from "../../contract/domain/Errors.ts"
import { isArray, isObject, type JsonObject, numberOr, objectOr, parseJson, stringOr } from "../../wire/json/Json.ts"
import { errorEvent } from "../../wire/responses/Errors.ts"

/** Members that the transport adds to an event, put in front of its own; the rest of its text stays as it is. */
export const withMembers = (event: string, members: JsonObject): string => {
  const added = JSON.stringify(members)
  if (added === "{}") return event
  const open = event.indexOf("{")
  const rest = event.slice(open + 1)
  return `${added.slice(0, -1)}${/^\s*\}/.test(rest) ? "" : ","}${rest}`
}

/** An error that is ours. */
export const errorFrame = (view: ErrorView, requestId: string, headers: JsonObject = {}): JsonObject => ({
  ...errorEvent(view, requestId),
  status: view.status,
  headers
})

/** The view of an error that only the transport knows. */
export const transportError = (
  status: number,
  code: string | null,
  message: string,
  param: string | null = null
): ErrorView => errorView(status, message, { param, ...(code === null ? {} : { code }) })

/** Headers of an answer that an error frame repeats: clients read how long to wait from them. */
const isForwarded = (name: string): boolean =>
  name === "retry-after" || (name.startsWith("x-") && name !== "x-content-type-options")

/** Flat name–value list → object with lower-case names. */
export const headersOf = (flat: ReadonlyArray<string>): JsonObject => {
  const headers: Record<string, string> = {}
  for (let at = 0; at + 1 < flat.length; at += 2) {
    const name = (flat[at] ?? "").toLowerCase()
    if (isForwarded(name)) headers[name] = flat[at + 1] ?? ""
  }
  return headers
}

/** No provider was asked, because none serves the model. */
const isUnserved = (status: number, error: JsonObject): boolean => {
  const { attempts } = error
  return status === 404 && error["code"] === "model_not_found" && (!isArray(attempts) || attempts.length === 0)
}

/** An HTTP error answer as a frame. A model that is not served has its own code on this transport. */
export const errorAnswerFrame = (status: number, headers: ReadonlyArray<string>, body: string): JsonObject => {
  const read = objectOr(objectOr(parseJson(body) ?? null)["error"])
  const unserved = isUnserved(status, read)
  const told = unserved ? 400 : status
  const [type, code] = typeAndCode(told)
  const error: JsonObject = {
    ...read,
    type: stringOr(read["type"]) ?? type,
    code: unserved ? "upstream_ws_provider_required" : (stringOr(read["code"]) ?? code),
    message: stringOr(read["message"]) ?? "The request failed.",
    param: stringOr(read["param"])
  }
  const { code: errorCode, message, param } = error
  return { type: "error", status: told, code: errorCode, message, param, error, headers: headersOf(headers) }
}

const statuses = [400, 401, 402, 403, 404, 409, 413, 415, 422, 429, 500, 502, 503, 504, 529]

/** The status of a type and code. */
const statusFor = (type: string | null, code: string | null): number => {
  const exact = statuses.find((status) => {
    const [usualType, usualCode] = typeAndCode(status)
    return usualType === type && usualCode === code
  })
  return exact ?? statuses.find((status) => typeAndCode(status)[0] === type && status !== 500) ?? 502
}

/**
 * The error event of a stream that broke, with the status that clients of this transport go by: without one they would wait for an
 * end that never comes.
 */
export const errorEventFrame = (event: JsonObject): JsonObject => {
  if (numberOr(event["status"]) !== null) return event
  const error = isObject(event["error"]) ? event["error"] : event
  return { ...event, status: statusFor(stringOr(error["type"]), stringOr(error["code"])) }
}
