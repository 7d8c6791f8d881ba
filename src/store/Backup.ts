/**
 * Copies of the database under `<data folder>/backups`, made by SQLite's online backup, which lets requests run between its steps.
 * Names hold time and reason: `db_20250131T120000000Z_before-migration-2.sqlite`. The id of a backup is its name without the ending.
 */
import { SqliteClient } from "@effect/sql-sqlite-node/SqliteClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import { chmodSync, readdirSync, renameSync, rmSync, statSync } from "node:fs"
import { type FileHandle, open } from "node:fs/promises"
import { join } from "node:path"
import { makeLane } from "../kernel/Lane.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { schemaVersionOf } from "./engine/DatabaseHeader.ts"
import { backupFolder, ensureFolder, onDisk, syncPath } from "./DataFolder.ts"
import { refusedAt, type StoreFailure } from "./Errors.ts"

export interface BackupFile {
  readonly id: string
  readonly name: string
  readonly path: string
  readonly reason: string
  readonly sizeBytes: number
  readonly createdAtMs: number
  /** 0 when the file has no header of a database. */
  readonly schemaVersion: number
}

export interface Download {
  readonly handle: FileHandle
  readonly sizeBytes: number
}

export class Backup extends Context.Tag("gateway/store/Backup")<
  Backup,
  {
    /** `reason` becomes part of the file name: lower-case letters, digits and dashes are kept, the rest turns into dashes. */
    readonly make: (reason: string) => Effect.Effect<BackupFile, StoreFailure>
    /** Newest first. */
    readonly list: Effect.Effect<ReadonlyArray<BackupFile>, StoreFailure>
    /** A copy for a download, closed with the scope. Its file has no name any more, so that none is left when the process dies. */
    readonly download: Effect.Effect<Download, StoreFailure, Scope.Scope>
    readonly remove: (backup: BackupFile) => Effect.Effect<void, StoreFailure>
    /** Removes the oldest backups of a reason, beyond the newest `keep`. */
    readonly trim: (reason: string, keep: number) => Effect.Effect<void, StoreFailure>
  }
>() {}

/** Reasons of copies that the gateway makes by itself. All others were asked for, and are kept. */
export const reasons = { scheduled: "scheduled", preRestore: "pre-restore", preImport: "pre-import" } as const

const beforeMigration = "before-migration-"
const migrationBackupsKept = 5
/** Copies made before a restore or an import. */
export const safetyBackupsKept = 5

const namePattern = /^db_(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z_([a-z0-9-]+)\.sqlite$/

const slugOf = (reason: string): string =>
  reason
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 60)

const idOf = (nowMs: number, slug: string): string =>
  `db_${new Date(nowMs).toISOString().replaceAll(/[-:.]/g, "")}_${slug}`

const ending = ".sqlite"
const partialEnding = ".partial"

/** Parses the name of a file in `folder`; null when it is not a backup's. */
const readBackup = (folder: string, name: string): BackupFile | null => {
  const match = namePattern.exec(name)
  if (match === null) return null
  const [, year, month, day, hour, minute, second, millis, reason = ""] = match
  const path = join(folder, name)
  const createdAtMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millis}Z`)
  const { size } = statSync(path)
  const id = name.slice(0, -ending.length)
  return { id, name, path, reason, sizeBytes: size, createdAtMs, schemaVersion: schemaVersionOf(path) }
}

/** The backups of a data folder, newest first. */
export const listIn = (dataDir: string): Effect.Effect<ReadonlyArray<BackupFile>, StoreFailure> => {
  const folder = backupFolder(dataDir)
  return Effect.zipRight(
    ensureFolder(folder),
    onDisk(folder, () =>
      readdirSync(folder)
        .map((name) => readBackup(folder, name))
        .filter((backup) => backup !== null)
        .sort((a, b) => (a.name < b.name ? 1 : -1))
    )
  )
}

export const remove = (path: string) => onDisk(path, () => rmSync(path, { force: true }))

/** Writes a whole copy of a database to a path. */
export type CopyTo = (path: string) => Effect.Effect<unknown, unknown>

/** Makes a backup by `copyTo`. The file gets its final name only when it is whole and on disk. */
export const makeBy = Effect.fn("Backup.make")(function* (copyTo: CopyTo, dataDir: string, reason: string) {
  const folder = backupFolder(dataDir)
  yield* ensureFolder(folder)
  const slug = slugOf(reason)
  // Two of the same millisecond must not become one file.
  const taken = new Set(yield* onDisk(folder, () => readdirSync(folder)))
  let createdAtMs = yield* Clock.currentTimeMillis
  while (taken.has(`${idOf(createdAtMs, slug)}${ending}`)) createdAtMs += 1
  const name = `${idOf(createdAtMs, slug)}${ending}`
  const path = join(folder, name)
  const partial = `${path}${partialEnding}`
  yield* copyTo(partial).pipe(
    Effect.catchAll(refusedAt(partial)),
    Effect.zipRight(onDisk(partial, () => chmodSync(partial, 0o600))),
    Effect.zipRight(syncPath(partial)),
    Effect.zipRight(onDisk(path, () => renameSync(partial, path))),
    Effect.zipRight(syncPath(folder)),
    Effect.onError(() => Effect.ignore(remove(partial)))
  )
  return yield* onDisk(path, () => readBackup(folder, name)).pipe(
    Effect.flatMap((backup) =>
      backup === null ? Effect.dieMessage(`${name} is not a backup's name`) : Effect.succeed(backup)
    )
  )
})

const trimWhere = Effect.fnUntraced(function* (dataDir: string, isOne: (reason: string) => boolean, keep: number) {
  const old = (yield* listIn(dataDir)).filter(({ reason }) => isOne(reason))
  yield* Effect.forEach(old.slice(keep), ({ path }) => remove(path), { discard: true })
})

/** Removes the oldest backups of a reason, beyond the newest `keep`. */
export const trimIn = (dataDir: string, reason: string, keep: number): Effect.Effect<void, StoreFailure> =>
  trimWhere(dataDir, (found) => found === reason, keep)

/** The copy made before migrations run; keeps the last five of its kind. */
export const makeBeforeMigration = Effect.fnUntraced(function* (
  client: SqliteClient,
  dataDir: string,
  version: number
) {
  yield* makeBy((path) => client.backup(path), dataDir, `${beforeMigration}${version}`)
  yield* trimWhere(dataDir, (reason) => reason.startsWith(beforeMigration), migrationBackupsKept)
})

/** Removes what a process that died has left of unfinished copies. Only for who holds the lock of the folder: another process may be writing one. */
export const removeUnfinished = Effect.fnUntraced(function* (dataDir: string) {
  const folder = backupFolder(dataDir)
  yield* ensureFolder(folder)
  const names = yield* onDisk(folder, () => readdirSync(folder))
  yield* Effect.forEach(
    names.filter((name) => /\.partial(?:-journal|-wal|-shm)?$/.test(name)),
    (name) => remove(join(folder, name)),
    { discard: true }
  )
})

export const layer: Layer.Layer<Backup, never, AppConfig | SqliteClient> = Layer.effect(
  Backup,
  Effect.gen(function* () {
    const { dataDir } = yield* AppConfig
    const client = yield* SqliteClient
    const folder = backupFolder(dataDir)
    const copyTo: CopyTo = (path) => client.backup(path)
    let downloads = 0
    // Each copy reads the whole database: one after the other.
    const oneAtATime = makeLane(1)
    return Backup.of({
      make: (reason) => oneAtATime.inTurn(makeBy(copyTo, dataDir, reason)),
      list: listIn(dataDir),
      download: Effect.acquireRelease(
        Effect.gen(function* () {
          const path = join(folder, `download-${++downloads}${partialEnding}`)
          yield* ensureFolder(folder)
          yield* copyTo(path).pipe(oneAtATime.inTurn, Effect.catchAll(refusedAt(path)))
          const opened = Effect.tryPromise({ try: () => open(path, "r"), catch: (error) => error })
          const handle = yield* Effect.catchAll(opened, refusedAt(path)).pipe(
            Effect.ensuring(Effect.ignore(remove(path)))
          )
          return { handle, sizeBytes: (yield* Effect.promise(() => handle.stat())).size }
        }),
        ({ handle }) => Effect.promise(() => handle.close())
      ),
      remove: ({ path }) => remove(path),
      trim: (reason, keep) => trimIn(dataDir, reason, keep)
    })
  })
)
