/** Names of what the store keeps under the data folder, and the making of the folder itself. */
import * as Effect from "effect/Effect"
import { chmodSync, mkdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { DataUnwritable, refusedAt, type StoreFailure } from "./Errors.ts"

export const databaseFile = (dataDir: string): string => join(dataDir, "gateway.sqlite")
export const lockFile = (dataDir: string): string => join(dataDir, "gateway.lock")
export const masterKeyFile = (dataDir: string): string => join(dataDir, "master.key")
export const backupFolder = (dataDir: string): string => join(dataDir, "backups")
export const journalFolder = (dataDir: string): string => join(dataDir, "usage-journal")

/** Runs file-system calls on `path`; what the system refuses becomes a `StoreFailure`, anything else is a bug. */
export const onDisk = <A>(path: string, run: () => A): Effect.Effect<A, StoreFailure> =>
  Effect.try({ try: run, catch: (error) => error }).pipe(Effect.catchAll(refusedAt(path)))

/** Makes a folder only its owner can enter. An existing folder keeps its mode. */
export const ensureFolder = (folder: string): Effect.Effect<void, StoreFailure> =>
  onDisk(folder, () => void mkdirSync(folder, { recursive: true, mode: 0o700 }))

const writableByOthers = 0o022
const writableByAnybody = 0o002
const sticky = 0o1000

/**
 * Makes the data folder. One that others can write to is narrowed to its owner: they could put another database or key in its place;
 * one that they can only read keeps its mode, because no file in it is readable for them. A folder that is shared on purpose, such as
 * the system's one for temporary files, is refused, because narrowing it would break others.
 */
export const ownFolder = (folder: string): Effect.Effect<void, StoreFailure> =>
  Effect.gen(function* () {
    yield* ensureFolder(folder)
    const { mode, uid } = statSync(folder)
    // Windows has no such modes.
    if (process.getuid === undefined || (mode & writableByOthers) === 0) return
    const isShared = (mode & sticky) !== 0
    if (uid === process.getuid() && !isShared) {
      yield* onDisk(folder, () => chmodSync(folder, 0o700))
      return yield* Effect.logWarning(
        `The data folder ${folder} could be written by other users; its mode is now 0700.`
      )
    }
    if (isShared || (mode & writableByAnybody) !== 0) {
      return yield* new DataUnwritable({
        path: folder,
        reason: "every user of this machine can write to the folder; set DATA_DIR to one of your own"
      })
    }
  })
