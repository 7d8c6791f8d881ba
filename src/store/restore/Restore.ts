/**
 * Puts another database in the place of the live one. The file is copied, examined and brought to this gateway's schema while the service
 * runs; only then, with nothing open, its content replaces that of the live database, in one transaction of SQLite: a process that dies
 * at any moment leaves the old state or the new one. The file of the live database stays the same, so its write-ahead log cannot be left
 * behind by another one.
 */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { constants, type Stats } from "node:fs"
import { chmodSync, mkdirSync, renameSync, rmSync, statSync } from "node:fs"
import { copyFile } from "node:fs/promises"
import { join } from "node:path"
import { AppConfig } from "../../platform/AppConfig.ts"
import * as Backup from "../Backup.ts"
import { databaseFile, ensureFolder, onDisk, restoreFolder, syncPath } from "../DataFolder.ts"
import { refusedAt, type StoreFailure } from "../Errors.ts"
import * as Handle from "../engine/Handle.ts"
import * as Sql from "../Sql.ts"
import { carryOver } from "./Carried.ts"
import { examine } from "./Examine.ts"
import type { RestoreRefused } from "./Refusal.ts"

/** A database that may take the place of the live one. */
export interface Staged {
  readonly file: string
  /** Version before it was brought to this gateway's schema. */
  readonly schemaVersion: number
}

const busyTimeoutMs = 5_000

/** A folder of its own for one restore, removed with the scope. */
export const stagingFolder: Effect.Effect<string, StoreFailure, AppConfig | Scope.Scope> = Effect.gen(function* () {
  const { dataDir } = yield* AppConfig
  const nowMs = yield* Clock.currentTimeMillis
  const root = restoreFolder(dataDir)
  yield* ensureFolder(root)
  return yield* Effect.acquireRelease(
    onDisk(root, () => {
      for (let number = nowMs; ; number += 1) {
        const folder = join(root, String(number))
        try {
          mkdirSync(folder, { mode: 0o700 })
          return folder
        } catch (error) {
          if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error
        }
      }
    }),
    (folder) => Effect.ignore(onDisk(folder, () => rmSync(folder, { recursive: true, force: true })))
  )
})

/** Removes what a process that died has left. Only for who holds the lock of the data folder. */
export const removeLeftovers = (dataDir: string): Effect.Effect<void, StoreFailure> => {
  const folder = restoreFolder(dataDir)
  return onDisk(folder, () => rmSync(folder, { recursive: true, force: true }))
}

export const stagedFile = (folder: string): string => join(folder, "gateway.sqlite")

/** Examines the file in a staging folder and brings it to this gateway's schema. The live database is not touched. */
export const prepare = (folder: string): Effect.Effect<Staged, RestoreRefused | StoreFailure, AppConfig> =>
  Effect.gen(function* () {
    const file = stagedFile(folder)
    yield* onDisk(file, () => chmodSync(file, 0o600))
    const schemaVersion = yield* examine(file)
    yield* Sql.migrateFile(file)
    return { file, schemaVersion }
  })

/** Copies a backup into a staging folder and prepares it. */
export const stage = (backup: Backup.BackupFile, folder: string) =>
  Effect.gen(function* () {
    const file = stagedFile(folder)
    yield* Effect.tryPromise({
      try: () => copyFile(backup.path, file, constants.COPYFILE_FICLONE),
      catch: (error) => error
    }).pipe(Effect.catchAll(refusedAt(file)))
    return yield* prepare(folder)
  })

const opened = (file: string, readonly: boolean) =>
  Effect.catchAll(Handle.open(file, { readonly, busyTimeoutMs }), refusedAt(file))

const copied = (from: Handle.Database, into: string) => Effect.catchAll(Handle.copyInto(from, into), refusedAt(into))

const exists = (file: string): Stats | undefined => statSync(file, { throwIfNoEntry: false })

/** Makes a backup of a database that no gateway has open. */
export const backUp = (dataDir: string, reason: string): Effect.Effect<Backup.BackupFile, StoreFailure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const live = yield* opened(databaseFile(dataDir), false)
      return yield* Backup.makeBy((path) => Handle.copyInto(live, path), dataDir, reason)
    })
  )

/** The live database as it is now, kept as a backup of this reason. Nothing may write to it meanwhile. */
const keepLive = (dataDir: string, reason: string) =>
  Effect.zipLeft(backUp(dataDir, reason), Effect.ignore(Backup.trimIn(dataDir, reason, Backup.safetyBackupsKept)))

/** Replaces the content of the live database. */
const replaceLive = (from: Handle.Database, dataDir: string) =>
  Effect.gen(function* () {
    const live = databaseFile(dataDir)
    const isNew = (yield* onDisk(live, () => exists(live))) === undefined
    yield* copied(from, live)
    if (isNew) yield* onDisk(live, () => chmodSync(live, 0o600))
    yield* syncPath(live)
    yield* syncPath(dataDir)
  })

/**
 * Puts a staged database in the place of the live one, with nothing open, and returns the backup of what was there. What has happened
 * since the staged one was made is brought over (`Carried`).
 */
export const swap = ({ file }: Staged, reason: string): Effect.Effect<Backup.BackupFile, StoreFailure, AppConfig> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { dataDir } = yield* AppConfig
      const before = yield* keepLive(dataDir, reason)
      const staged = yield* opened(file, false)
      yield* Effect.try({
        try: () => {
          carryOver(staged, databaseFile(dataDir))
          staged.pragma("wal_checkpoint(TRUNCATE)")
        },
        catch: (error) => error
      }).pipe(Effect.catchAll(refusedAt(file)))
      yield* replaceLive(staged, dataDir)
      return before
    })
  )

/** Puts a backup made by `swap` back, as it is. */
export const putBack = (backup: Backup.BackupFile): Effect.Effect<void, StoreFailure, AppConfig> =>
  Effect.scoped(
    Effect.gen(function* () {
      const { dataDir } = yield* AppConfig
      yield* replaceLive(yield* opened(backup.path, true), dataDir)
    })
  )

/**
 * Moves a live database that cannot be read out of the way, with its log, so that a backup can take its place; returns where it is. Only
 * with nothing open, and with the lock of the data folder held.
 */
export const setAside = (dataDir: string): Effect.Effect<string, StoreFailure> =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
    const live = databaseFile(dataDir)
    const aside = `${live}.damaged-${nowMs}`
    return onDisk(live, () => {
      for (const ending of ["", "-wal", "-shm"]) {
        if (exists(`${live}${ending}`) !== undefined) renameSync(`${live}${ending}`, `${aside}${ending}`)
      }
      return aside
    })
  })
