/**
 * Commits that do not wait for the disk. A commit under `synchronous = FULL` blocks the whole process until the disk has written the
 * log; that is too slow for rows that are already in a file. They are committed without it, and the log is synced by another thread
 * before that file is removed: after a power cut the rows are in the table or in the file.
 */
import type { Connection } from "@effect/sql/SqlConnection"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { close, fsync, open } from "node:fs"
import { closingOf } from "./Client.ts"
import { engineOf } from "./Engine.ts"
import { untilFree } from "./WriteQueue.ts"

/** Sets the level. Not a cached statement: SQLite executes this pragma while preparing it. */
const level = (connection: Connection, name: "NORMAL" | "FULL"): Effect.Effect<void, SqlError> =>
  Effect.suspend(() => Effect.asVoid(connection.executeUnprepared(`PRAGMA synchronous = ${name}`, [], undefined)))

/**
 * Runs `use` with exclusive access to the connection; its commits survive a killed process at once, and a power cut after `syncLog`. Where
 * another process holds the database it is tried again, so that `use` begins with its only statement or with `BEGIN IMMEDIATE`.
 */
export const withLateSync = <A, E>(
  sql: SqlClient.SqlClient,
  use: (connection: Connection) => Effect.Effect<A, E>
): Effect.Effect<A, E | SqlError> => {
  const other = engineOf(sql)
  if (other !== undefined) return other.onConnection(use)
  return untilFree(
    Effect.scoped(
      Effect.flatMap(sql.reserve, (connection) =>
        Effect.acquireUseRelease(
          level(connection, "NORMAL"),
          () => use(connection),
          () => Effect.orDie(level(connection, "FULL"))
        )
      )
    ),
    closingOf(sql)
  )
}

/** Waits, off the main thread, until the write-ahead log of the database file is on disk. Returns at once without a log. */
export const syncLog = (databaseFile: string): Effect.Effect<void, NodeJS.ErrnoException> =>
  Effect.async((resume) => {
    open(`${databaseFile}-wal`, "r+", (missing, descriptor) => {
      if (missing !== null) return resume(missing.code === "ENOENT" ? Effect.void : Effect.fail(missing))
      fsync(descriptor, (failed) =>
        close(descriptor, () => resume(failed === null ? Effect.void : Effect.fail(failed)))
      )
    })
  })
