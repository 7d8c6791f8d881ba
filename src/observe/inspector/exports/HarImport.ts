/** Reads an HTTP archive (version 1.1 or 1.2) of any program. Each member is checked before it is used; what is wrong is named by its place. Pure. */
import * as Data from "effect/Data"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { isObject, numberOr, parseJson, stringOr } from "../../../wire/json/Json.ts"
import {
  type CaptureSource,
  captureSources,
  type RecordHeaders,
  type RecordStatus
} from "../../../contract/domain/TrafficRecord.ts"

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
  /** Version, such as `HTTP/1.1`; null: the archive does not say it, or not so that it is known. */
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

const objectExpected = "expected an object"
const listExpected = "expected a list"

const required = <A, I>(schema: Schema.Schema<A, I>, missing: string) =>
  Schema.propertySignature(schema).annotations({ missingMessage: () => missing })

const object = <Fields extends Schema.Struct.Fields>(fields: Fields) =>
  Schema.Struct(fields).annotations({
    // What is wrong inside of an object has messages of its own.
    message: ({ actual }) => ({ message: objectExpected, override: !Predicate.isReadonlyRecord(actual) })
  })

const requiredObject = <A, I>(schema: Schema.Schema<A, I>) => required(schema, `is missing, ${objectExpected}`)

const text = Schema.String.annotations({ message: () => "expected a string" })
const requiredText = required(text, "expected a string")
const optionalText = Schema.optionalWith(text, { nullable: true })

const textWhere = (expected: string, isRight: (text: string) => boolean) =>
  required(text.pipe(Schema.filter(isRight, { message: () => expected })), "expected a string")

const schemes: ReadonlyArray<ImportedExchange["scheme"]> = ["http", "https", "ws", "wss"]
const schemeOf = (text: string): ImportedExchange["scheme"] | undefined =>
  URL.canParse(text) ? schemes.find((known) => `${known}:` === new URL(text).protocol) : undefined

const timeOf = (text: string): number => Date.parse(text.slice(0, 64))

const headers = required(
  Schema.Array(object({ name: requiredText, value: requiredText })).pipe(
    Schema.annotations({ message: () => listExpected }),
    Schema.maxItems(maxHeaders, { message: () => `expected at most ${maxHeaders} headers` })
  ),
  listExpected
)

const wholeNumber = "expected a whole number"

/** Members that other programs write in ways of their own are read for what they are worth. */
const Entry = object({
  request: requiredObject(
    object({
      method: textWhere("expected the name of a method", (value) => /^[A-Za-z-]{1,32}$/.test(value)),
      url: textWhere("expected an absolute http or https address", (value) => schemeOf(value) !== undefined),
      httpVersion: Schema.optional(Schema.Unknown),
      headers,
      bodySize: Schema.optional(Schema.Unknown),
      postData: Schema.optionalWith(
        object({
          text: optionalText,
          _encoding: Schema.optional(Schema.Unknown),
          encoding: Schema.optional(Schema.Unknown)
        }),
        { nullable: true }
      )
    })
  ),
  response: requiredObject(
    object({
      status: required(
        Schema.Int.annotations({ message: () => ({ message: wholeNumber, override: true }) }),
        wholeNumber
      ),
      headers,
      bodySize: Schema.optional(Schema.Unknown),
      content: Schema.optional(object({ text: optionalText, encoding: optionalText }))
    })
  ),
  startedDateTime: textWhere("expected a time in ISO 8601", (value) => !Number.isNaN(timeOf(value))),
  time: Schema.optional(Schema.Unknown),
  timings: Schema.optional(Schema.Unknown),
  comment: Schema.optional(Schema.Unknown),
  _source: Schema.optional(Schema.Unknown),
  _agent: Schema.optional(Schema.Unknown),
  _error: Schema.optional(Schema.Unknown),
  _annotation: Schema.optional(Schema.Unknown),
  _note: Schema.optional(Schema.Unknown)
})
type Entry = typeof Entry.Type

const Archive = object({
  log: requiredObject(
    object({
      entries: required(Schema.Array(Schema.Unknown).annotations({ message: () => listExpected }), listExpected)
    })
  )
})

/** Writes the place of the first member that is wrong, and what is wrong with it. */
const problemOf = (error: ParseResult.ParseError, root: string): InvalidHar => {
  const [issue] = ParseResult.ArrayFormatter.formatErrorSync(error)
  const place = (issue?.path ?? []).map((key) => (typeof key === "number" ? `[${key}]` : `.${String(key)}`)).join("")
  return malformed(root === "" ? place.slice(1) || "The file" : `${root}${place}`, issue?.message ?? "cannot be read")
}

const decodeArchive = Schema.decodeUnknownEither(Archive)
const decodeEntry = Schema.decodeUnknownEither(Entry)

const headersOf = (list: Entry["request"]["headers"]): RecordHeaders => {
  const found = new Map<string, string>()
  for (const { name, value } of list) {
    // Those that begin with a colon are part of HTTP/2, not headers.
    if (name.startsWith(":")) continue
    const key = name.toLowerCase()
    const known = found.get(key)
    found.set(key, known === undefined ? value : `${known}${key === "set-cookie" ? "\n" : ", "}${value}`)
  }
  return Object.fromEntries(found)
}

/** Bytes of a body; null when there is none. */
const bytesOf = (
  text: string | undefined,
  encoding: string | null,
  place: string
): Either.Either<Buffer | null, InvalidHar> => {
  if (text === undefined) return Either.right(null)
  if (encoding === null || encoding === "") return Either.right(Buffer.from(text, "utf8"))
  return encoding === "base64"
    ? Either.right(Buffer.from(text, "base64"))
    : Either.left(malformed(place, `expected the encoding base64, not '${encoding.slice(0, 40)}'`))
}

const sizeOf = (value: unknown, body: Buffer | null): number => {
  const size = numberOr(value)
  return size === null || size < 0 ? (body?.length ?? 0) : Math.min(Math.trunc(size), Number.MAX_SAFE_INTEGER)
}

const addressOf = (text: string): Pick<ImportedExchange, "scheme" | "host" | "path"> => {
  const { host, pathname, search } = new URL(text)
  return { scheme: schemeOf(text) ?? "http", host, path: `${pathname}${search}` }
}

const msOf = (value: unknown): number | null => {
  const ms = numberOr(value)
  return ms === null || ms < 0 ? null : ms
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
const versionOf = (value: unknown): string | null =>
  versions.get((stringOr(value) ?? "").slice(0, 16).toLowerCase()) ?? null

const shortText = (value: unknown): string | null => stringOr(value)?.slice(0, maxTextChars) ?? null

const exchangeOf = (item: unknown, place: string): Either.Either<ImportedExchange, InvalidHar> =>
  Either.gen(function* () {
    const entry = yield* Either.mapLeft(decodeEntry(item), (error) => problemOf(error, place))
    const { request, response } = entry
    const { content = {}, status } = response
    const { postData = {} } = request
    const requestBody = yield* bytesOf(
      postData.text,
      stringOr(postData._encoding) ?? stringOr(postData.encoding),
      `${place}.request.postData`
    )
    const responseBody = yield* bytesOf(content.text, content.encoding ?? null, `${place}.response.content`)
    const isAnswered = status >= 100 && status <= 999
    const error = shortText(entry._error)
    return {
      source: captureSources.find((known) => known === entry._source) ?? "http-proxy",
      agent: shortText(entry._agent),
      timestamp: new Date(timeOf(entry.startedDateTime)).toISOString(),
      method: request.method.toUpperCase(),
      ...addressOf(request.url),
      httpVersion: versionOf(request.httpVersion),
      requestHeaders: headersOf(request.headers),
      requestBody,
      requestSize: sizeOf(request.bodySize, requestBody),
      responseHeaders: headersOf(response.headers),
      responseBody,
      responseSize: sizeOf(response.bodySize, responseBody),
      status: isAnswered ? status : "error",
      upstreamLatencyMs: isObject(entry.timings) ? msOf(entry.timings["wait"]) : null,
      totalLatencyMs: msOf(entry.time),
      error: isAnswered ? error : (error ?? "failed"),
      annotation: shortText(entry._annotation),
      note: shortText(entry._note) ?? shortText(entry.comment)
    }
  })

/** The exchanges of an archive, in their order. */
export const readHar = (text: string): Either.Either<ReadonlyArray<ImportedExchange>, InvalidHar> =>
  Either.gen(function* () {
    const parsed = parseJson(text.startsWith("\uFEFF") ? text.slice(1) : text)
    if (parsed === undefined) return yield* Either.left(malformed("The file", "expected JSON"))
    const { entries } = (yield* Either.mapLeft(decodeArchive(parsed), (error) => problemOf(error, ""))).log
    if (entries.length > maxHarEntries) {
      const message = `log.entries: the archive has ${entries.length} entries; at most ${maxHarEntries} are read.`
      return yield* Either.left(new InvalidHar({ reason: "too_large", message }))
    }
    const exchanges: Array<ImportedExchange> = []
    for (const [at, entry] of entries.entries()) exchanges.push(yield* exchangeOf(entry, `log.entries[${at}]`))
    return exchanges
  })

export const tooLargeHar = new InvalidHar({
  reason: "too_large",
  message: `The file is larger than ${maxHarBytes / 1_048_576} MB.`
})
