/**
 * Brings a database of Postgres to this gateway's schema. The list is the one of SQLite: the first schema stands for the migrations up to its
 * version, and each later one is written for both engines. One node runs them, in one transaction, while others that start wait for it.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { SqlError } from "@effect/sql/SqlError"
import * as Effect from "effect/Effect"
import { MigrationFailed, reasonOf, SchemaNewer } from "../Errors.ts"
import { breaking, type Migrations, versionOf } from "../migrations/index.ts"
import { withPlainTransaction } from "../engine/postgres/Client.ts"
import { functions } from "../engine/postgres/schema/functions.ts"
import { indexes } from "../engine/postgres/schema/indexes.ts"
import { tables } from "../engine/postgres/schema/tables.ts"
import { triggers } from "../engine/postgres/schema/triggers.ts"
import { firstRows, usageTables } from "../engine/postgres/schema/usageTables.ts"

/** Version of the first schema. */
export const firstVersion = 51

const firstSchema = [...functions, ...tables, ...usageTables, ...indexes, ...triggers, ...firstRows]

const migrationsTable = `CREATE TABLE IF NOT EXISTS schema_migrations (
  migration_id BIGINT PRIMARY KEY,
  created_at TEXT NOT NULL DEFAULT to_char(now() AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'),
  name TEXT NOT NULL
)`

/** The lock is the transaction's, so that a node that dies leaves none, and one of each schema of a database. */
const lock = "SELECT pg_advisory_xact_lock(hashtext('gateway migrations'), hashtext(current_schema()))"

interface Numbered {
  readonly id: number
  readonly name: string
  readonly run: Effect.Effect<void, unknown, SqlClient.SqlClient>
}

const numbered = (all: Migrations): ReadonlyArray<Numbered> =>
  Object.entries(all)
    .map(([name, run]) => ({ id: Number.parseInt(name, 10), name: name.replace(/^\d+_/, ""), run }))
    .toSorted((one, other) => one.id - other.id)

/** Version of the schema; 0: the database is empty. */
const foundVersion = (sql: SqlClient.SqlClient): Effect.Effect<number, SqlError> =>
  Effect.map(
    sql.unsafe<{ readonly version: number | null }>("SELECT MAX(migration_id) AS version FROM schema_migrations"),
    ([row]) => row?.version ?? 0
  )

/** Time in ms after which a gateway that was not seen does not run. */
const runsForMs = 20_000

const older = `SELECT name, version FROM cluster_nodes WHERE schema_version < ?
  AND seen_at_ms > CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - ${runsForMs} ORDER BY name LIMIT 1`

/** Fails where a migration has to wait for a gateway that runs and is older than it. */
const noneOlder = (sql: SqlClient.SqlClient, file: string, id: number) =>
  Effect.gen(function* () {
    const [table] = yield* sql.unsafe<{ readonly name: string | null }>(
      "SELECT CAST(to_regclass('cluster_nodes') AS TEXT) AS name"
    )
    if ((table?.name ?? null) === null) return
    const [node] = yield* sql.unsafe<{ readonly name: string; readonly version: string }>(older, [id])
    if (node === undefined) return
    return yield* new MigrationFailed({
      file,
      reason: `the gateway ${node.name} (version ${node.version}) runs, and cannot live with migration ${id}; stop it first, and start this one again`
    })
  })

/** Runs what is missing; returns the versions before and after. */
export const migrate = (
  sql: SqlClient.SqlClient,
  all: Migrations,
  address: string,
  breaks: ReadonlySet<number> = breaking
) =>
  withPlainTransaction(
    sql,
    Effect.gen(function* () {
      yield* sql.unsafe(lock)
      yield* sql.unsafe(migrationsTable)
      const found = yield* foundVersion(sql)
      const wanted = versionOf(all)
      if (found > wanted) return yield* new SchemaNewer({ file: address, found, supported: wanted })
      const missing = numbered(all).filter(({ id }) => id > found)
      const waits = found === 0 ? [] : missing.filter(({ id }) => breaks.has(id))
      for (const { id } of waits) yield* noneOlder(sql, address, id)
      // All in one message: a round trip for each of some hundred statements takes longer than they do.
      if (found === 0) yield* sql.unsafe(firstSchema.join(";\n"))
      for (const { id, run } of missing) if (id > firstVersion) yield* run
      for (const { id, name } of missing)
        yield* sql`INSERT INTO schema_migrations ${sql.insert({ migrationId: id, name })}`
      return { found, wanted }
    }).pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      Effect.mapError((error) =>
        error instanceof SchemaNewer || error instanceof MigrationFailed
          ? error
          : new MigrationFailed({ file: address, reason: reasonOf(error) })
      )
    )
  ).pipe(
    Effect.mapError((error) =>
      error._tag === "SqlError" ? new MigrationFailed({ file: address, reason: reasonOf(error) }) : error
    )
  )
