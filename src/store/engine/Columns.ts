/** Schemas between domain values and SQLite columns. Tables are STRICT, so that a column holds text or integers only. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { LruMap } from "../../kernel/collections/LruMap.ts"

export type Column = string | number | null

/** A boolean as 0 or 1. */
export const Flag = Schema.transform(Schema.Literal(0, 1), Schema.Boolean, {
  strict: true,
  decode: (bit) => bit === 1,
  encode: (flag) => (flag ? 1 : 0)
})

/** An integer column for a number that may be measured in fractions, such as a clock reading. */
export const Whole = Schema.transform(Schema.Number, Schema.Number, {
  strict: true,
  decode: (value) => value,
  encode: (value) => Math.trunc(value)
})

/** An invalid number (a fraction, NaN) is replaced instead of failing all rows of a statement. */
export const valid = (value: number): number =>
  Number.isFinite(value) ? Math.min(Math.max(Math.trunc(value), Number.MIN_SAFE_INTEGER), Number.MAX_SAFE_INTEGER) : 0

/** A structure as JSON text. */
export const Json = Schema.parseJson

/** Longer texts are rarely the same in two rows. */
const mostSharedChars = 200
const mostShared = 1_000

/** The same, for texts that many rows share: what is read of one of them is one value for all of these rows. */
export const SharedJson = <A, I>(schema: Schema.Schema<A, I>): Schema.Schema<A, string> => {
  const json = Json(schema)
  const known = new LruMap<string, A>({ capacity: mostShared })
  const read = ParseResult.decodeEither(json)
  return Schema.transformOrFail(
    Schema.String,
    Schema.declare((value): value is A => value !== undefined),
    {
      strict: true,
      decode: (text) => {
        const shared = known.get(text)
        if (shared !== undefined) return ParseResult.succeed(shared)
        return Either.map(read(text), (value) => {
          if (text.length <= mostSharedChars) known.set(text, value)
          return value
        })
      },
      encode: (value) => ParseResult.encode(json)(value)
    }
  )
}

export const Text = Schema.String
export const MaybeText = Schema.NullOr(Schema.String)
export const MaybeWhole = Schema.NullOr(Whole)

const Floats = Schema.declare((value): value is Float32Array => value instanceof Float32Array)

/** A vector as base64 of its little-endian 32-bit floats. */
export const Vector = Schema.transform(Schema.String, Floats, {
  strict: true,
  decode: (text) => {
    const bytes = Uint8Array.from(Buffer.from(text, "base64"))
    return new Float32Array(bytes.buffer, 0, bytes.length >> 2)
  },
  encode: (vector) => Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64")
})
