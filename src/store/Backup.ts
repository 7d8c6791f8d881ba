/**
 * Copies of the database under `<data folder>/backups`, made by SQLite's online backup, which lets requests run between its steps.
 * Names hold time and reason: `db_20250131T120000000Z_before-migration-2.sqlite`.
 */
import { SqliteClient } from "@effect/sql-sqlite-node/SqliteClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { readdirSync, renameSync, rmSync, statSync } from "node:fs"
import { join } from "node:path"
import { AppConfig } from "../platform/AppConfig.ts"
import { backupFolder, ensureFolder, onDisk } from "./DataFolder.ts"
import { refusedAt, type StoreFailure } from "./Errors.ts"

export interface BackupFile {
  readonly name: string
  readonly path: string
  readonly reason: string
  readonly sizeBytes: number
  readonly createdAtMs: number
}

export class Backup extends Context.Tag("gateway/store/Backup")<
  Backup,
  {
    /** `reason` becomes part of the file name: lower-case letters, digits and dashes are kept, the rest turns into dashes. */
    readonly make: (reason: string) => Effect.Effect<BackupFile, StoreFailure>
    /** Newest first. */
    readonly list: Effect.Effect<ReadonlyArray<BackupFile>, StoreFailure>
  }
>() {}

const beforeMigration = "before-migration-"
/** Only automatic copies are removed; those a person asked for are kept. */
const migrationBackupsKept = 5

const namePattern = /^db_(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z_([a-z0-9-]+)\.sqlite$/

const slugOf = (reason: string): string =>
  reason
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, "-")
    .slice(0, 60)

const nameOf = (nowMs: number, slug: string): string =>
  `db_${new Date(nowMs).toISOString().replaceAll(/[-:.]/g, "")}_${slug}.sqlite`

/** Parses the name of a file in `folder`; null when it is not a backup's. */
const readBackup = (folder: string, name: string): BackupFile | null => {
  const match = namePattern.exec(name)
  if (match === null) return null
  const [, year, month, day, hour, minute, second, millis, reason = ""] = match
  const path = join(folder, name)
  const createdAtMs = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${millis}Z`)
  return { name, path, reason, sizeBytes: statSync(path).size, createdAtMs }
}

const listIn = (folder: string): Effect.Effect<ReadonlyArray<BackupFile>, StoreFailure> =>
  Effect.zipRight(
    ensureFolder(folder),
    onDisk(folder, () =>
      readdirSync(folder)
        .map((name) => readBackup(folder, name))
        .filter((backup) => backup !== null)
        .sort((a, b) => (a.name < b.name ? 1 : -1))
    )
  )

const makeIn = Effect.fn("Backup.make")(function* (client: SqliteClient, folder: string, reason: string) {
  const createdAtMs = yield* Clock.currentTimeMillis
  const slug = slugOf(reason)
  const name = nameOf(createdAtMs, slug)
  const path = join(folder, name)
  const partial = `${path}.partial`
  yield* ensureFolder(folder)
  // The file gets its final name only when the copy is complete.
  yield* client.backup(partial).pipe(
    Effect.catchAll(refusedAt(partial)),
    Effect.zipRight(onDisk(path, () => renameSync(partial, path))),
    Effect.onError(() => Effect.ignore(onDisk(partial, () => rmSync(partial, { force: true }))))
  )
  const sizeBytes = yield* onDisk(path, () => statSync(path).size)
  return { name, path, reason: slug, sizeBytes, createdAtMs }
})

/** The copy made before migrations run; keeps the last five of its kind. */
export const makeBeforeMigration = Effect.fnUntraced(function* (
  client: SqliteClient,
  dataDir: string,
  version: number
) {
  const folder = backupFolder(dataDir)
  yield* makeIn(client, folder, `${beforeMigration}${version}`)
  const old = (yield* listIn(folder)).filter((backup) => backup.reason.startsWith(beforeMigration))
  yield* Effect.forEach(
    old.slice(migrationBackupsKept),
    ({ path }) => onDisk(path, () => rmSync(path, { force: true })),
    { discard: true }
  )
})

export const layer: Layer.Layer<Backup, never, AppConfig | SqliteClient> = Layer.effect(
  Backup,
  Effect.gen(function* () {
    const { dataDir } = yield* AppConfig
    const client = yield* SqliteClient
    const folder = backupFolder(dataDir)
    return Backup.of({ make: (reason) => makeIn(client, folder, reason), list: listIn(folder) })
  })
)
