/**
 * Databases of every earlier schema version. The newest schema is on file as SQL (`test/fixtures/schema.sql`), the others by their hashes, so that a
 * change of an old migration is seen. `UPDATE_FIXTURES=1 npm test -- test/unit/store/restore` writes what is missing.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import Database from "better-sqlite3"
import * as Effect from "effect/Effect"
import { createHash } from "node:crypto"
import { readFileSync, writeFileSync } from "node:fs"
import { type Migrations, migrations, versionOf } from "../../src/store/migrations/index.ts"
import * as Sql from "../../src/store/Sql.ts"

const hashesFile = new URL("../fixtures/schemas.json", import.meta.url).pathname
const newestFile = new URL("../fixtures/schema.sql", import.meta.url).pathname
const separator = "\n;--\n"

const newest = versionOf(migrations)
export const versions: ReadonlyArray<number> = Object.keys(migrations).map((name) => Number.parseInt(name, 10))

const upTo = (version: number): Migrations =>
  Object.fromEntries(Object.entries(migrations).filter(([name]) => Number.parseInt(name, 10) <= version))

/** Rows that the first schema has a place for. */
const rows = [
  `INSERT INTO settings (namespace, key, value) VALUES ('gateway', 'settings', '{"metricsPublic":true}')`,
  `INSERT INTO combos (id, name, strategy, targets, config, is_active, created_at_ms, updated_at_ms)
    VALUES ('combo-1', 'kept', 'priority', '[{"model":"openai/gpt-4o"}]', '{}', 1, 1700000000000, 1700000000000)`,
  `INSERT INTO api_keys (id, name, prefix, hash, scopes, rate_limits, is_active, created_at_ms)
    VALUES ('key-1', 'laptop', 'gw_abc', 'hash-1', '["manage"]', '[]', 1, 1700000000000)`,
  `INSERT INTO usage_log (id, timestamp_ms, request_id, requested_model, source_wire, streamed, outcome, status, latency_ms, attempts,
    tokens_in, tokens_out, tokens_cache_read, tokens_cache_write, tokens_reasoning, cost_nano_usd, priced, usage_source)
    VALUES ('usage-1', 1700000000000, 'request-1', 'openai/gpt-4o', 'chat', 0, 'completed', 200, 12, 1, 10, 5, 0, 0, 0, 75000, 1, 'upstream')`
]

/** A database of a version as SQL, with one row of each kind. */
export const dump = (version: number): Effect.Effect<string> =>
  Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    for (const row of rows) yield* sql.unsafe(row)
    const objects = yield* sql.unsafe<{ readonly sql: string }>(
      // The tables of an index for full text are made with it.
      `SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'
        AND name NOT IN (SELECT name FROM pragma_table_list WHERE type = 'shadow') ORDER BY rowid`
    )
    const migrated = yield* sql.unsafe<{ readonly migrationId: number; readonly name: string }>(
      "SELECT migration_id, name FROM schema_migrations ORDER BY 1"
    )
    const ids = migrated.map(
      ({ migrationId, name }) => `INSERT INTO schema_migrations (migration_id, name) VALUES (${migrationId}, '${name}')`
    )
    return `${[...objects.map((object) => object.sql), ...ids, ...rows, `PRAGMA user_version = ${version}`].join(separator)}\n`
  }).pipe(Effect.provide(Sql.layerMemoryOf(upTo(version))), Effect.orDie)

export const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex")

/** Hashes by version. */
export const hashes = JSON.parse(readFileSync(hashesFile, "utf8")) as Readonly<Record<string, string>>

/** The newest schema as it is on file. */
export const newestOnFile = (): string => readFileSync(newestFile, "utf8")

/** Writes the newest schema, and hashes of versions that have none. */
export const writeMissing: Effect.Effect<void> = Effect.gen(function* () {
  const all: Record<string, string> = { ...hashes }
  for (const version of versions) all[version] ??= hashOf(yield* dump(version))
  writeFileSync(hashesFile, `${JSON.stringify(all, null, 2)}\n`)
  writeFileSync(newestFile, yield* dump(newest))
})

/** Makes a database of a version in a file. */
export const build = (version: number, file: string): Effect.Effect<void> =>
  Effect.map(dump(version), (text) => {
    const database = new Database(file)
    database.pragma("journal_mode = WAL")
    for (const statement of text.split(separator)) database.exec(statement)
    database.close()
  })
