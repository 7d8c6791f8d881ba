/**
 * Small schemas the groups share. An optional field may be absent or null; a field that is not named is refused (`StrictBodies`).
 */
import * as HttpApiSchema from "@effect/platform/HttpApiSchema"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { field } from "../kernel/Documented.ts"
import { instantMs, isDay } from "../kernel/time/IsoInstant.ts"
import { isTimeZone } from "../kernel/time/TimeZones.ts"

/** Absent or null: not given. */
export const optional = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  Schema.optionalWith(schema, { exact: true, nullable: true })

/** Absent: leave as it is; null: clear it. */
export const clearable = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  Schema.optionalWith(Schema.NullOr(schema), { exact: true })

/** Text with something in it; blanks around it do not count. */
export const Text = Schema.Trim.pipe(Schema.minLength(1, { message: () => "must not be empty" }))

/** A name people read: 1 to 200 characters, no surrounding blanks, nothing that a terminal takes for a command. */
export const Name = Text.pipe(
  Schema.maxLength(200),
  Schema.filter((text) => (/[\p{Cc}\p{Bidi_Control}]/u.test(text) ? "must not hold control characters" : true))
)

/** An absolute http or https address. Which hosts are allowed is the outbound policy's decision. */
export const HttpUrl = Schema.Trim.pipe(
  Schema.maxLength(2048),
  Schema.filter((text) =>
    URL.canParse(text) && /^https?:$/.test(new URL(text).protocol) ? true : "must be an http or https URL"
  )
)

/** Extra request headers, at most 32. Any of them may be a key, so all are redacted from the first moment. */
export const HeaderMap = Schema.Record({ key: Schema.String, value: Schema.Redacted(Schema.String) }).pipe(
  Schema.filter((headers) => {
    const entries = Object.entries(headers)
    if (entries.length > 32) return "must hold at most 32 headers"
    const wrong = entries.find(
      ([name, value]) => !/^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name) || /[\r\n\0]/.test(Redacted.value(value))
    )
    return wrong === undefined ? true : "must hold valid header names and values"
  })
)

/** A path below a base address, such as `/v1/chat/completions`. */
export const UrlPath = Schema.Trim.pipe(Schema.pattern(/^\/[^\s?#]*$/), Schema.maxLength(512))

/** A secret as the caller sends it. Redacted from the first moment. */
export const Secret = Schema.Redacted(
  Schema.String.pipe(Schema.minLength(1, { message: () => "must not be empty" }), Schema.maxLength(8192)).annotations({
    // Here and not at the field: there an example would have to be redacted, and a redacted value is not written out.
    examples: ["sk-your-secret"]
  })
)

const noTime = "must be an ISO 8601 time with its zone, such as 2035-01-31T12:00:00Z"

/** A time of a day that there is, with `Z` or an offset. */
export const IsoTime = Schema.String.pipe(Schema.filter((text) => (instantMs(text) === null ? noTime : true)))

/** A day that there is, such as `2035-01-31`. */
export const IsoDay = Schema.String.pipe(
  Schema.filter((text) => (isDay(text) ? true : "must be a day such as 2035-01-31"))
)

/** Member of a query: a time with its zone, or a day, which stands for its beginning in UTC. */
export const IsoTimeOrDay = Schema.String.pipe(
  Schema.filter((text) => (isDay(text) || instantMs(text) !== null ? true : `${noTime}, or a day such as 2035-01-31`))
)

export const TimeZone = Schema.String.pipe(
  Schema.filter((text) => isTimeZone(text) || "must be a time zone of the IANA database, such as Europe/Zurich or UTC")
)

/** 204 without a body. */
export const NoContent = HttpApiSchema.NoContent

export const Created = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  schema.annotations(HttpApiSchema.annotations({ status: 201 }))

/** 202: it goes on after the answer. */
export const Accepted = <A, I, R>(schema: Schema.Schema<A, I, R>) =>
  schema.annotations(HttpApiSchema.annotations({ status: 202 }))

/** Annotations of a request body: its name in the OpenAPI document, and that every wrong field is reported, not the first only. */
export const body = (identifier: string) => ({ identifier, parseOptions: { errors: "all" } }) as const

/** Page of a list. Without a size the list is whole. */
export const PageQuery = Schema.Struct({
  limit: field(
    Schema.optionalWith(
      Schema.NumberFromString.pipe(Schema.int(), Schema.between(1, 1000)).annotations({
        jsonSchema: { type: "integer", minimum: 1, maximum: 1000 }
      }),
      { exact: true }
    ),
    "How many entries to answer at most; absent: all of them.",
    100
  ),
  cursor: field(
    Schema.optionalWith(Schema.String.pipe(Schema.maxLength(1000)), { exact: true }),
    "The `nextCursor` of the page before this one; absent: the first page.",
    "MC4wMTlhYTZlZS01YzAwLTcwMDAtOGYzZS0xZjBjOWQyYjdhNjQ"
  )
})
export type PageQuery = typeof PageQuery.Type

/** Member of the answer of a list. */
export const nextCursor = field(
  Schema.NullOr(Schema.String),
  "The `cursor` of the next page; null on the last page.",
  null
)

/** Member of the answer of a list. */
export const total = field(Schema.Number, "Entries of all pages.", 42)

/** Member of an update that is shown and cannot be set. The value shown may be sent back as it is; the member is not looked at. */
export const ReadOnly = field(
  Schema.optional(Schema.Unknown),
  "Shown, and cannot be changed: it may be sent back and is not looked at.",
  null
)
