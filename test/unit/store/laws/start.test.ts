/** How a database of Postgres gets its schema, and that it is the one of SQLite. */
import * as SqlClient from "@effect/sql/SqlClient"
import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import { open } from "../../../../src/store/postgres/Database.ts"
import { firstVersion, migrate } from "../../../../src/store/postgres/Migrations.ts"
import { describeStoreFailure } from "../../../../src/store/Errors.ts"
import { type Migrations, migrations, versionOf } from "../../../../src/store/migrations/index.ts"
import * as Sql from "../../../../src/store/Sql.ts"
import { emptySchema } from "../../../support/postgres/Schemas.ts"
import { noPostgres, postgresUrl } from "../../../support/postgres/Server.ts"

const url = await postgresUrl()

/** Tables of SQLite's full-text search, and what each engine keeps its own notes in. */
const isOwn = (table: string): boolean => /^(?:memory_index|sqlite_|schema_migrations$)/.test(table)

const ofSqlite = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ readonly line: string }>`
    SELECT t.name || '.' || c.name || CASE WHEN c."notnull" = 1 OR c.pk > 0 THEN ' not null' ELSE '' END || ' ' || lower(c.type) AS line
    FROM sqlite_schema AS t JOIN pragma_table_info(t.name) AS c WHERE t.type = 'table'`
}).pipe(Effect.provide(Sql.layerMemory))

const types: Readonly<Record<string, string>> = {
  bigint: "integer",
  text: "text",
  "double precision": "real",
  bytea: "blob"
}

const ofPostgres = (sql: SqlClient.SqlClient) =>
  Effect.map(
    sql<{ readonly place: string; readonly type: string }>`
      SELECT table_name || '.' || column_name || CASE is_nullable WHEN 'NO' THEN ' not null' ELSE '' END AS place, data_type AS type
      FROM information_schema.columns WHERE table_schema = current_schema()`,
    (rows) => rows.map(({ place, type }) => ({ line: `${place} ${types[type] ?? type}` }))
  )

const names = (rows: ReadonlyArray<{ readonly line: string }>) =>
  rows.flatMap(({ line }) => (isOwn(line.split(".", 1)[0] ?? "") ? [] : [line])).toSorted()

const indexesOfSqlite = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql<{
      readonly line: string
    }>`SELECT name || '.' AS line FROM sqlite_schema WHERE type IN ('index', 'trigger') AND sql IS NOT NULL`
).pipe(Effect.provide(Sql.layerMemory))

describe.skipIf(url === null)(`a database of Postgres${url === null ? noPostgres : ""}`, () => {
  it.scopedLive("has the tables and columns of SQLite", () =>
    Effect.gen(function* () {
      const sql = yield* open(yield* emptySchema(url ?? ""))
      assert.deepStrictEqual(names(yield* ofPostgres(sql)), names(yield* ofSqlite))
    })
  )

  it.scopedLive("has its indexes and triggers, too", () =>
    Effect.gen(function* () {
      const sql = yield* open(yield* emptySchema(url ?? ""))
      const found = yield* sql<{ readonly name: string }>`
        SELECT indexname AS name FROM pg_indexes WHERE schemaname = current_schema()
        UNION ALL SELECT tgname FROM pg_trigger JOIN pg_class ON pg_class.oid = tgrelid
          WHERE NOT tgisinternal AND relnamespace = current_schema()::regnamespace`
      const there = new Set(found.map(({ name }) => name))
      const missing = (yield* indexesOfSqlite).map(({ line }) => line.slice(0, -1)).filter((name) => !there.has(name))
      assert.deepStrictEqual(missing, [])
    })
  )

  it.scopedLive(
    "comes up for three nodes that start at once on an empty one",
    () =>
      Effect.gen(function* () {
        const options = yield* emptySchema(url ?? "")
        const nodes = yield* Effect.all(
          Array.from({ length: 3 }, () => open(options)),
          { concurrency: "unbounded" }
        )
        for (const sql of nodes) {
          const rows = yield* sql`SELECT migration_id FROM schema_migrations`
          assert.strictEqual(rows.length, Object.keys(migrations).length)
        }
      }),
    30_000
  )

  it.scopedLive("runs a later migration once, for whatever node", () =>
    Effect.gen(function* () {
      const options = yield* emptySchema(url ?? "")
      yield* open(options)
      let runs = 0
      const later: Migrations = {
        ...migrations,
        [`${versionOf(migrations) + 1}_more`]: Effect.flatMap(SqlClient.SqlClient, (sql) => {
          runs += 1
          return sql.unsafe("CREATE TABLE more (id TEXT PRIMARY KEY)")
        })
      }
      yield* Effect.all([open(options, later), open(options, later)], { concurrency: "unbounded" })
      assert.strictEqual(runs, 1)
      const failure = yield* Effect.flip(open(options))
      assert.match(describeStoreFailure(failure), /schema version \d+, but this gateway knows versions up to \d+/)
    })
  )

  it.scopedLive("waits with what an older gateway cannot live with until none runs, and says which does", () =>
    Effect.gen(function* () {
      const options = yield* emptySchema(url ?? "")
      const sql = yield* open(options)
      const [now, next] = [versionOf(migrations), versionOf(migrations) + 1]
      const later: Migrations = {
        ...migrations,
        [`${next}_less`]: Effect.flatMap(SqlClient.SqlClient, (client) => client.unsafe("DROP TABLE combos"))
      }
      const seenSince = (agoMs: number, version: number) =>
        sql.unsafe(
          `INSERT INTO cluster_nodes (id, name, version, schema_version, started_at_ms, folder, seen_at_ms, config_seq, heard_at_ms)
            VALUES ('a', 'gateway-1:8080', '0.1.0', ${version}, 0, 'f', CAST(EXTRACT(EPOCH FROM clock_timestamp()) * 1000 AS BIGINT) - ${agoMs}, 0, 0)
            ON CONFLICT (id) DO UPDATE SET seen_at_ms = excluded.seen_at_ms, schema_version = excluded.schema_version`
        )
      yield* seenSince(0, now)
      const failure = yield* Effect.flip(migrate(sql, later, "it", new Set([next])))
      assert.match(
        describeStoreFailure(failure),
        new RegExp(
          `left as it was: .*gateway-1:8080 \\(version 0\\.1\\.0\\) runs, and cannot live with migration ${next}; stop it first`
        )
      )
      yield* sql`SELECT id FROM combos`
      // One that does not break anything waits for nobody, and neither does one that nothing older is there for.
      const harmless: Migrations = { ...migrations, [`${next}_more`]: Effect.void }
      yield* Effect.flip(migrate(sql, later, "it", new Set([next])))
      yield* seenSince(30_000, now)
      yield* migrate(sql, later, "it", new Set([next]))
      assert.isTrue(Exit.isFailure(yield* Effect.exit(sql`SELECT id FROM combos`)))
      const other = yield* open(yield* emptySchema(url ?? ""))
      yield* migrate(other, harmless, "it", new Set())
      assert.strictEqual(
        (yield* other<{ readonly n: number }>`SELECT MAX(migration_id) AS n FROM schema_migrations`)[0]?.n,
        next
      )
    })
  )

  it.scopedLive("is left as it was by a migration that fails", () =>
    Effect.gen(function* () {
      const options = yield* emptySchema(url ?? "")
      const failing: Migrations = {
        ...migrations,
        [`${versionOf(migrations) + 1}_bad`]: Effect.flatMap(SqlClient.SqlClient, (sql) =>
          sql.unsafe("CREATE TABLE combos (id TEXT)")
        )
      }
      const failure = yield* Effect.flip(open(options, failing))
      assert.match(describeStoreFailure(failure), /could not be brought to this gateway's schema.*already exists/)
      const sql = yield* open(options)
      assert.isAtLeast((yield* sql`SELECT 1 FROM schema_migrations`).length, firstVersion)
    })
  )
})
