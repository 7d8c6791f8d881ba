/** Reads an HTTP archive (version 1.1 or 1.2) of any program. Each member is checked before it is used; what is wrong is named by its place. Pure. */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import {
  isArray,
  isObject,
  type Json,
  type JsonObject,
  numberOr,
  parseJson,
  stringOr
} from "../../../wire/json/Json.ts"
import {
  type CaptureSource,
  captureSources,
  type RecordHeaders,
  type RecordStatus
} from "../../../domain/TrafficRecord.ts"

/** The file is no archive, or is too large. `message` says what is wrong, in one sentence. */
export class InvalidHar extends Data.TaggedError("InvalidHar")<{
  readonly reason: "too_large" | "malformed"
  readonly message: string
}> {}

export const maxHarBytes = 104_857_600
export const maxHarEntries = 5_000
const maxHeaders = 1_000
const maxTextChars = 10_000

/** Facts of an entry, before it is masked and read. */
export interface ImportedExchange {
  readonly source: CaptureSource
  readonly agent: string | null
  readonly timestamp: string
  readonly method: string
  readonly scheme: "http" | "https" | "ws" | "wss"
  readonly host: string
  readonly path: string
  /** As `HTTP/1.1`; null: the archive does not say it, or not so that it is known. */
  readonly httpVersion: string | null
  readonly requestHeaders: RecordHeaders
  readonly requestBody: Buffer | null
  readonly requestSize: number
  readonly responseHeaders: RecordHeaders
  readonly responseBody: Buffer | null
  readonly responseSize: number
  readonly status: RecordStatus
  readonly upstreamLatencyMs: number | null
  readonly totalLatencyMs: number | null
  readonly error: string | null
  readonly annotation: string | null
  readonly note: string | null
}

const malformed = (place: string, problem: string): InvalidHar =>
  new InvalidHar({ reason: "malformed", message: `${place}: ${problem}` })

/** Thrown inside of this module only: an archive has thousands of places, and the first wrong one ends the reading. */
class Wrong extends Error {
  readonly problem: InvalidHar
  constructor(place: string, problem: string) {
    super(problem)
    this.problem = malformed(place, problem)
  }
}

const objectAt = (value: Json | undefined, place: string): JsonObject => {
  if (value === undefined) throw new Wrong(place, "is missing, expected an object")
  if (!isObject(value)) throw new Wrong(place, "expected an object")
  return value
}

const textAt = (object: JsonObject, name: string, place: string): string => {
  const value = object[name]
  if (typeof value !== "string") throw new Wrong(`${place}.${name}`, "expected a string")
  return value
}

const listAt = (object: JsonObject, name: string, place: string): ReadonlyArray<Json> => {
  const value = object[name]
  if (!isArray(value)) throw new Wrong(`${place}.${name}`, "expected a list")
  return value
}

const optionalText = (value: Json | undefined, place: string): string | null => {
  if (value === undefined || value === null) return null
  if (typeof value !== "string") throw new Wrong(place, "expected a string")
  return value
}

const headersAt = (object: JsonObject, place: string): RecordHeaders => {
  const list = listAt(object, "headers", place)
  if (list.length > maxHeaders) throw new Wrong(`${place}.headers`, `expected at most ${maxHeaders} headers`)
  const headers = new Map<string, string>()
  list.forEach((item, at) => {
    const here = `${place}.headers[${at}]`
    const header = objectAt(item, here)
    const name = textAt(header, "name", here).toLowerCase()
    const value = textAt(header, "value", here)
    // Those that begin with a colon are part of HTTP/2, not headers.
    if (name.startsWith(":")) return
    const known = headers.get(name)
    headers.set(name, known === undefined ? value : `${known}${name === "set-cookie" ? "\n" : ", "}${value}`)
  })
  return Object.fromEntries(headers)
}

/** Bytes of a body; null when there is none. */
const bytesOf = (text: string | null, encoding: string | null, place: string): Buffer | null => {
  if (text === null) return null
  if (encoding === null || encoding === "") return Buffer.from(text, "utf8")
  if (encoding !== "base64") throw new Wrong(place, `expected the encoding base64, not '${encoding.slice(0, 40)}'`)
  return Buffer.from(text, "base64")
}

const sizeOf = (value: Json | undefined, body: Buffer | null): number => {
  const size = numberOr(value)
  return size === null || size < 0 ? (body?.length ?? 0) : Math.min(Math.trunc(size), Number.MAX_SAFE_INTEGER)
}

const schemes: ReadonlyArray<ImportedExchange["scheme"]> = ["http", "https", "ws", "wss"]

const addressAt = (request: JsonObject, place: string): Pick<ImportedExchange, "scheme" | "host" | "path"> => {
  const text = textAt(request, "url", place)
  const url = URL.canParse(text) ? new URL(text) : null
  const scheme = schemes.find((known) => `${known}:` === url?.protocol)
  if (url === null || scheme === undefined)
    throw new Wrong(`${place}.url`, "expected an absolute http or https address")
  return { scheme, host: url.host, path: `${url.pathname}${url.search}` }
}

const statusAt = (response: JsonObject, place: string): RecordStatus => {
  const status = numberOr(response["status"])
  if (status === null || !Number.isInteger(status)) throw new Wrong(`${place}.status`, "expected a whole number")
  return status >= 100 && status <= 999 ? status : "error"
}

const msAt = (object: JsonObject, name: string): number | null => {
  const ms = numberOr(object[name])
  return ms === null || ms < 0 ? null : ms
}

const methodAt = (request: JsonObject, place: string): string => {
  const method = textAt(request, "method", place)
  if (!/^[A-Za-z-]{1,32}$/.test(method)) throw new Wrong(`${place}.method`, "expected the name of a method")
  return method.toUpperCase()
}

const timeAt = (entry: JsonObject, place: string): string => {
  const text = textAt(entry, "startedDateTime", place)
  const ms = Date.parse(text.slice(0, 64))
  if (Number.isNaN(ms)) throw new Wrong(`${place}.startedDateTime`, "expected a time in ISO 8601")
  return new Date(ms).toISOString()
}

const versions: ReadonlyMap<string, string> = new Map([
  ["http/1.0", "HTTP/1.0"],
  ["http/1.1", "HTTP/1.1"],
  ["http/2", "HTTP/2"],
  ["http/2.0", "HTTP/2"],
  ["h2", "HTTP/2"],
  ["h2c", "HTTP/2"],
  ["http/3", "HTTP/3"],
  ["http/3.0", "HTTP/3"],
  ["h3", "HTTP/3"]
])

/** Programs write it in ways of their own. */
const versionAt = (request: JsonObject): string | null =>
  versions.get((stringOr(request["httpVersion"]) ?? "").slice(0, 16).toLowerCase()) ?? null

const shortText = (value: Json | undefined): string | null => stringOr(value)?.slice(0, maxTextChars) ?? null

const entryOf = (item: Json, place: string): ImportedExchange => {
  const entry = objectAt(item, place)
  const request = objectAt(entry["request"], `${place}.request`)
  const response = objectAt(entry["response"], `${place}.response`)
  const content = response["content"] === undefined ? {} : objectAt(response["content"], `${place}.response.content`)
  const posted =
    request["postData"] === undefined || request["postData"] === null
      ? {}
      : objectAt(request["postData"], `${place}.request.postData`)
  const requestBody = bytesOf(
    optionalText(posted["text"], `${place}.request.postData.text`),
    stringOr(posted["_encoding"]) ?? stringOr(posted["encoding"]),
    `${place}.request.postData`
  )
  const responseBody = bytesOf(
    optionalText(content["text"], `${place}.response.content.text`),
    optionalText(content["encoding"], `${place}.response.content.encoding`),
    `${place}.response.content`
  )
  const timings = isObject(entry["timings"]) ? entry["timings"] : {}
  const status = statusAt(response, `${place}.response`)
  return {
    source: captureSources.find((known) => known === entry["_source"]) ?? "http-proxy",
    agent: shortText(entry["_agent"]),
    timestamp: timeAt(entry, place),
    method: methodAt(request, `${place}.request`),
    ...addressAt(request, `${place}.request`),
    httpVersion: versionAt(request),
    requestHeaders: headersAt(request, `${place}.request`),
    requestBody,
    requestSize: sizeOf(request["bodySize"], requestBody),
    responseHeaders: headersAt(response, `${place}.response`),
    responseBody,
    responseSize: sizeOf(response["bodySize"], responseBody),
    status,
    upstreamLatencyMs: msAt(timings, "wait"),
    totalLatencyMs: msAt(entry, "time"),
    error: status === "error" ? (shortText(entry["_error"]) ?? "failed") : shortText(entry["_error"]),
    annotation: shortText(entry["_annotation"]),
    note: shortText(entry["_note"]) ?? shortText(entry["comment"])
  }
}

/** The exchanges of an archive, in their order. */
export const readHar = (text: string): Either.Either<ReadonlyArray<ImportedExchange>, InvalidHar> => {
  const parsed = parseJson(text.startsWith("\uFEFF") ? text.slice(1) : text)
  if (parsed === undefined) return Either.left(malformed("The file", "expected JSON"))
  try {
    const log = objectAt(objectAt(parsed, "The file")["log"], "log")
    const entries = listAt(log, "entries", "log")
    if (entries.length > maxHarEntries) {
      const message = `log.entries: the archive has ${entries.length} entries; at most ${maxHarEntries} are read.`
      return Either.left(new InvalidHar({ reason: "too_large", message }))
    }
    return Either.right(entries.map((entry, at) => entryOf(entry, `log.entries[${at}]`)))
  } catch (error) {
    if (error instanceof Wrong) return Either.left(error.problem)
    throw error
  }
}

export const tooLargeHar = new InvalidHar({
  reason: "too_large",
  message: `The file is larger than ${maxHarBytes / 1_048_576} MB.`
})
