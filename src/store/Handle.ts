/**
 * A bare SQLite handle for the two jobs the pooled client cannot do: reading a file without changing it, and holding a lock.
 * The only file that imports the driver.
 */
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
// oxlint-disable-next-line no-restricted-imports
import Sqlite from "better-sqlite3"

export type Database = Sqlite.Database

export interface HandleOptions {
  readonly readonly: boolean
  /** How long a statement waits for another process's lock. The wait blocks the thread. */
  readonly busyTimeoutMs: number
}

/** Opens `file` for the life of the scope. Throws the driver's own errors inside `Effect.try`. */
export const open = (
  file: string,
  { busyTimeoutMs, readonly }: HandleOptions
): Effect.Effect<Database, unknown, Scope.Scope> =>
  Effect.acquireRelease(
    Effect.try({
      try: () => new Sqlite(file, { readonly, fileMustExist: readonly, timeout: busyTimeoutMs }),
      catch: (error) => error
    }),
    (database) => Effect.sync(() => database.close())
  )
