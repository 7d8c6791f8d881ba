/** Schemas between domain values and SQLite columns. Tables are STRICT, so that a column holds text or integers only. */
import * as Schema from "effect/Schema"

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
