/** File names under the data folder, and how the folder is made. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import { chmodSync, closeSync, existsSync, fsyncSync, mkdirSync, openSync, readdirSync, statSync } from "node:fs"
import { join } from "node:path"
import { firstProblem } from "../platform/files/PathAccess.ts"
import { DataUnwritable, refusedAt, type StoreFailure } from "./Errors.ts"

export const databaseFile = (dataDir: string): string => join(dataDir, "gateway.sqlite")
export const lockFile = (dataDir: string): string => join(dataDir, "gateway.lock")
export const masterKeyFile = (dataDir: string): string => join(dataDir, "master.key")
export const backupFolder = (dataDir: string): string => join(dataDir, "backups")
/** Folder in which a database is checked and prepared before it replaces the live one. */
export const restoreFolder = (dataDir: string): string => join(dataDir, "restore")
export const journalFolder = (dataDir: string): string => join(dataDir, "usage-journal")
/** Bodies of uploaded files, each under its id. */
export const filesFolder = (dataDir: string): string => join(dataDir, "files")
/** Folder for parts of a request that are larger than what stays in memory, while the request is served. */
export const uploadsFolder = (dataDir: string): string => join(dataDir, "uploads")
/** Folder for the results of the lines of batches that are not over, a file each. */
export const batchesFolder = (dataDir: string): string => join(dataDir, "batches")
export const reservationFolder = (dataDir: string): string => join(dataDir, "reservations")

/** Folders that the gateway writes to while it runs. One of another user is to be found at the start. */
const innerFolders = [journalFolder, reservationFolder, filesFolder, batchesFolder, uploadsFolder]

/** Runs file-system calls on `path`; a system error becomes a `StoreFailure`, anything else is a defect. */
export const onDisk = <A>(path: string, run: () => A): Effect.Effect<A, StoreFailure> =>
  Effect.try({ try: run, catch: (error) => error }).pipe(Effect.catchAll(refusedAt(path)))

/** Makes a folder only its owner can enter. An existing folder keeps its mode. */
export const ensureFolder = (folder: string): Effect.Effect<void, StoreFailure> =>
  onDisk(folder, () => void mkdirSync(folder, { recursive: true, mode: 0o700 }))

/** Names of workers that run: what is in their folders is theirs. */
export class RunningWorkers extends Context.Reference<RunningWorkers>()("gateway/store/RunningWorkers", {
  defaultValue: (): ReadonlyArray<string> => []
}) {}

/** Folder of a worker, within one that each process writes to. */
export const workerFolder = (folder: string, name: string): string => join(folder, name)

/** Folders that workers left, which do not run any more. */
export const leftByWorkers = (folder: string): Effect.Effect<ReadonlyArray<string>, StoreFailure> =>
  Effect.flatMap(RunningWorkers, (running) =>
    onDisk(folder, () =>
      readdirSync(folder, { withFileTypes: true })
        .filter((entry) => entry.isDirectory() && !running.includes(entry.name))
        .map(({ name }) => join(folder, name))
    )
  )

/** Brings a file or the names in a folder to disk. */
export const syncPath = (path: string): Effect.Effect<void, StoreFailure> =>
  onDisk(path, () => {
    const descriptor = openSync(path, "r")
    try {
      fsyncSync(descriptor)
    } finally {
      closeSync(descriptor)
    }
  })

const writableByOthers = 0o022
const writableByAnybody = 0o002
const sticky = 0o1000

/**
 * Makes the data folder. One that other users can write to is restricted to its owner, because they could replace the database or the
 * key; one they can only read keeps its mode, because no file in it is readable for them. A folder that is shared on purpose, such as
 * the system's temporary folder, is refused, because restricting it would break other programs.
 */
export const ownFolder = (folder: string): Effect.Effect<void, StoreFailure> =>
  Effect.gen(function* () {
    yield* ensureFolder(folder)
    yield* onDisk(folder, () => {
      const problem = firstProblem(innerFolders.map((of) => of(folder)).filter((path) => existsSync(path)))
      if (problem !== null) throw new DataUnwritable(problem)
    })
    const { mode, uid } = yield* onDisk(folder, () => statSync(folder))
    // Windows has no file modes.
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
