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
  /** Time in ms that a statement waits for another process's lock. The wait blocks the thread. */
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

/** Pages copied before other work gets its turn: 4 MB take a few milliseconds. */
const pagesAtOnce = 1_000

/**
 * Copies all of an open database into a file: a new one, or in place of the content of an existing database. In both cases the file has
 * all of it or, when the process dies on the way, nothing of it: the content of an existing one is replaced in one transaction.
 */
export const copyInto = (source: Database, file: string): Effect.Effect<void, unknown> =>
  Effect.asVoid(
    Effect.tryPromise({ try: () => source.backup(file, { progress: () => pagesAtOnce }), catch: (error) => error })
  )
