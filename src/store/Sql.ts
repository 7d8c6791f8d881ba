/**
 * The connection to `<data folder>/gateway.sqlite`: the file is inspected before it is opened, backed up before it is migrated, and
 * configured so that a committed transaction survives a power cut. A database that cannot be used fails the layer with a
 * `StoreFailure` and is left unchanged.
 */
import * as Migrator from "@effect/sql/Migrator"
import * as SqlClient from "@effect/sql/SqlClient"
import * as SqliteClient from "@effect/sql-sqlite-node/SqliteClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { closeSync, openSync } from "node:fs"
import { AppConfig } from "../platform/AppConfig.ts"
import * as Backup from "./Backup.ts"
import { connect } from "./engine/Client.ts"
import { databaseFile, onDisk } from "./DataFolder.ts"
import { DataLock } from "./DataLock.ts"
import { writeEmptyDatabase } from "./EmptyDatabase.ts"
import { failureAt, MigrationFailed, reasonOf, refusedAt, type StoreFailure } from "./Errors.ts"
import { inspect, migrationsTable } from "./Inspection.ts"
import { waitingAtMost } from "./engine/WriteQueue.ts"
import { type Migrations, migrations, versionOf } from "./migrations/index.ts"

/** The client as other modules see it, and as the driver's own type for backups. */
export type Sql = SqlClient.SqlClient | SqliteClient.SqliteClient

/**
 * The driver's defaults sync only at checkpoints and never shrink the write-ahead log. SQLite does not wait for another process: that
 * would block the thread, so `WriteQueue` waits.
 */
const settings = [
  "synchronous = FULL",
  "foreign_keys = ON",
  "busy_timeout = 0",
  `journal_size_limit = ${64 * 1_048_576}`
]

const configure = (client: SqliteClient.SqliteClient) =>
  Effect.forEach(settings, (setting) => client.unsafe(`PRAGMA ${setting}`), { discard: true })

/**
 * Takes the write lock for a moment, to detect a read-only file or a transaction of another program. SQLite waits for that by itself:
 * nothing runs yet.
 */
const probeWrite = (client: SqliteClient.SqliteClient) =>
  Effect.all(
    ["PRAGMA busy_timeout = 1000", "BEGIN IMMEDIATE", "ROLLBACK"].map((statement) => client.unsafe(statement)),
    { discard: true }
  ).pipe(waitingAtMost(0))

/** Runs the missing migrations and records the version, all in one transaction. */
const migrate = (client: SqliteClient.SqliteClient, all: Migrations) =>
  Migrator.make({})({ loader: Migrator.fromRecord(all), table: migrationsTable }).pipe(
    Effect.zipRight(client.unsafe(`PRAGMA user_version = ${versionOf(all)}`)),
    client.withTransaction,
    Effect.provideService(SqlClient.SqlClient, client)
  )

const open = (all: Migrations) =>
  Effect.gen(function* () {
    const { dataDir } = yield* AppConfig
    const lock = yield* DataLock
    const file = databaseFile(dataDir)
    const wanted = versionOf(all)
    const found = yield* inspect(file, wanted)

    const migrationFailed = (error: unknown): StoreFailure => {
      const failure = failureAt(file, error)
      return failure === null || failure._tag === "StoreError"
        ? new MigrationFailed({ file, reason: reasonOf(error) })
        : failure
    }

    const isMade = found === 0 && all === migrations && (yield* onDisk(file, () => writeEmptyDatabase(file, wanted)))
    // SQLite gives the journal files the mode of this one.
    if (found === 0 && !isMade) yield* onDisk(file, () => closeSync(openSync(file, "a", 0o600)))
    const client = yield* Effect.catchAllDefect(connect(file), refusedAt(file))
    yield* Effect.catchAll(Effect.zipRight(probeWrite(client), configure(client)), refusedAt(file))

    if (found < wanted && !isMade) {
      yield* lock.exclusively(
        Effect.zipRight(
          Effect.when(Backup.makeBeforeMigration(client, dataDir, wanted), () => found > 0),
          migrate(client, all).pipe(
            Effect.catchAllDefect((defect) => Effect.fail(defect)),
            Effect.mapError(migrationFailed)
          )
        )
      )
    }
    return client
  })

const both = (client: SqliteClient.SqliteClient): Context.Context<Sql> =>
  Context.make(SqliteClient.SqliteClient, client).pipe(Context.add(SqlClient.SqlClient, client))

/** The layer over a given set of migrations; other sets than the gateway's own are for tests. */
export const layerOf = (all: Migrations): Layer.Layer<Sql, StoreFailure, AppConfig | DataLock> =>
  Layer.scopedContext(Effect.map(open(all), both))

export const layer: Layer.Layer<Sql, StoreFailure, AppConfig | DataLock> = layerOf(migrations)

/** Empty databases by their migrations: to copy one takes a tenth of the time of making it. */
const madeInMemory = new WeakMap<Migrations, Uint8Array>()

/** Makes an empty database with the schema of these migrations, as bytes. Others than the gateway's own are for tests. */
export const emptyDatabase = (all: Migrations): Effect.Effect<Uint8Array> =>
  Effect.suspend(() => {
    const made = madeInMemory.get(all)
    if (made !== undefined) return Effect.succeed(made)
    return Effect.scoped(
      Effect.gen(function* () {
        const client = yield* connect(":memory:")
        yield* configure(client)
        yield* migrate(client, all)
        const bytes = yield* client.export
        madeInMemory.set(all, bytes)
        return bytes
      })
    ).pipe(Effect.orDie)
  })

/** An empty database in memory, with the schema that these migrations make. */
export const layerMemoryOf = (all: Migrations): Layer.Layer<Sql> =>
  Layer.scopedContext(
    emptyDatabase(all).pipe(
      Effect.flatMap(connect),
      Effect.tap((client) => configure(client)),
      Effect.map(both),
      Effect.orDie
    )
  )

/** An empty database in memory with the whole schema, for tests. */
export const layerMemory: Layer.Layer<Sql> = layerMemoryOf(migrations)

/** Brings the database in another file to this gateway's schema, all at once or not at all. */
export const migrateFile = (file: string): Effect.Effect<void, StoreFailure> =>
  Effect.scoped(
    Effect.gen(function* () {
      const client = yield* Effect.catchAllDefect(connect(file), refusedAt(file))
      yield* Effect.catchAll(configure(client), refusedAt(file))
      yield* migrate(client, migrations).pipe(
        Effect.catchAllDefect((defect) => Effect.fail(defect)),
        Effect.mapError((error) => failureAt(file, error) ?? new MigrationFailed({ file, reason: reasonOf(error) }))
      )
    })
  )
