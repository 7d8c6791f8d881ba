/** Reasons for which a file cannot replace the live database. Nothing was changed in any of these cases. */
import * as Data from "effect/Data"

export type RefusalKind =
  | "not_a_database"
  | "database_cut_short"
  | "database_damaged"
  | "schema_newer"
  | "schema_foreign"
  | "encryption_key_mismatch"

/** `message` is for a person, and says what to do. */
export class RestoreRefused extends Data.TaggedError("RestoreRefused")<{
  readonly kind: RefusalKind
  readonly message: string
}> {}

export const refused = (kind: RefusalKind, message: string): RestoreRefused =>
  new RestoreRefused({ kind, message: `${message} Nothing was changed.` })
