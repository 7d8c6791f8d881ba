/**
 * Encrypts and decrypts the columns of one table for its repository. A value that cannot be decrypted is read as null and marks its
 * row as locked; writing such a row back keeps the unreadable text, so that the right key can still decrypt it later.
 */
import * as Either from "effect/Either"
import * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import type * as Context from "effect/Context"
import type { Secrets } from "./Secrets.ts"

/** A record of which some secret may be unreadable: those fields are null and `locked` is true. */
export type Stored<A> = A & { readonly locked: boolean }

export interface Opened<A> {
  readonly value: A | null
  readonly locked: boolean
}

export interface SealedColumn<A> {
  readonly seal: (rowId: string, value: A | null) => string | null
  readonly open: (rowId: string, text: string | null) => Opened<A>
  /** Returns the value to write over `stored` so that the column holds `value`. */
  readonly reseal: (rowId: string, value: A | null, stored: string | null) => string | null
}

/** `codec` turns the value into the text that is encrypted. */
export const sealedColumn = <A>(
  secrets: Context.Tag.Service<Secrets>,
  table: string,
  column: string,
  codec: Schema.Schema<A, string>
): SealedColumn<A> => {
  const encode = (value: A) => Schema.encodeSync(codec)(value)
  const decode = (text: string) => Schema.decodeEither(codec)(text)

  const seal = (rowId: string, value: A | null): string | null =>
    value === null ? null : secrets.encrypt({ table, column, rowId }, Redacted.make(encode(value)))

  const open = (rowId: string, text: string | null): Opened<A> => {
    if (text === null) return { value: null, locked: false }
    const plain = secrets.decrypt({ table, column, rowId }, text)
    const value = Either.flatMap(plain, (secret) => decode(Redacted.value(secret)))
    return Either.isRight(value) ? { value: value.right, locked: false } : { value: null, locked: true }
  }

  const reseal = (rowId: string, value: A | null, stored: string | null): string | null =>
    value === null && open(rowId, stored).locked ? stored : seal(rowId, value)

  return { seal, open, reseal }
}

export const SecretText = Schema.Redacted(Schema.String)
export const SecretHeaders = Schema.parseJson(Schema.Record({ key: Schema.String, value: SecretText }))
