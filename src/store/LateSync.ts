/**
 * Commits that do not wait for the disk. A commit under `synchronous = FULL` holds up the whole process until the disk has written the
 * log; for rows that are on file elsewhere already that is too dear. They are committed without, and the log is synced by a thread of
 * its own before whatever held the rows meanwhile is given up: after a power cut they are in one place or the other, as before.
 */
import type { Connection } from "@effect/sql/SqlConnection"
import type * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { close, fsync, open } from "node:fs"

/** Not prepared once and kept: SQLite carries this one out while it prepares it. */
const level = (connection: Connection, name: "NORMAL" | "FULL"): Effect.Effect<void, SqlError> =>
  Effect.suspend(() => Effect.asVoid(connection.executeUnprepared(`PRAGMA synchronous = ${name}`, [], undefined)))

/** Gives `use` the connection for itself; what it commits survives the end of the process, and a power cut once the log is synced. */
export const withLateSync = <A, E>(
  sql: SqlClient.SqlClient,
  use: (connection: Connection) => Effect.Effect<A, E>
): Effect.Effect<A, E | SqlError> =>
  Effect.scoped(
    Effect.flatMap(sql.reserve, (connection) =>
      Effect.acquireUseRelease(
        level(connection, "NORMAL"),
        () => use(connection),
        () => Effect.orDie(level(connection, "FULL"))
      )
    )
  )

/** Waits, off the main thread, until the write-ahead log of the database file is on disk. Without a log there is nothing to wait for. */
export const syncLog = (databaseFile: string): Effect.Effect<void, NodeJS.ErrnoException> =>
  Effect.async((resume) => {
    open(`${databaseFile}-wal`, "r+", (missing, descriptor) => {
      if (missing !== null) return resume(missing.code === "ENOENT" ? Effect.void : Effect.fail(missing))
      fsync(descriptor, (failed) =>
        close(descriptor, () => resume(failed === null ? Effect.void : Effect.fail(failed)))
      )
    })
  })
