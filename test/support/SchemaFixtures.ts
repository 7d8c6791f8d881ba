/**
 * Databases of every earlier schema version, on file as SQL (`test/fixtures/schemas`), so that a change of an old migration cannot change
 * them too. `UPDATE_FIXTURES=1 npm test -- test/unit/store/restore` writes those that are missing.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import Database from "better-sqlite3"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { type Migrations, migrations } from "../../src/store/migrations/index.ts"
import * as Sql from "../../src/store/Sql.ts"

const folder = new URL("../fixtures/schemas", import.meta.url).pathname
const separator = "\n;--\n"

const fileOf = (version: number): string => join(folder, `${String(version).padStart(4, "0")}.sql`)

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

const dump = (version: number): Effect.Effect<string> =>
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
    return [...objects.map((object) => object.sql), ...ids, ...rows, `PRAGMA user_version = ${version}`].join(separator)
  }).pipe(Effect.provide(Sql.layerMemoryOf(upTo(version))), Effect.orDie)

/** Writes the fixtures of versions that have none. */
export const writeMissing = (newest: number): Effect.Effect<void> =>
  Effect.forEach(
    Array.from({ length: newest }, (_, index) => index + 1).filter((version) => !existsSync(fileOf(version))),
    (version) => Effect.map(dump(version), (text) => writeFileSync(fileOf(version), `${text}\n`)),
    { discard: true }
  )

export const versions: ReadonlyArray<number> = readdirSync(folder)
  .map((name) => Number.parseInt(name, 10))
  .filter((version) => version > 0)
  .sort((a, b) => a - b)

/** Makes a database of a version in a file, with one row of each kind. */
export const build = (version: number, file: string): void => {
  const database = new Database(file)
  database.pragma("journal_mode = WAL")
  for (const statement of readFileSync(fileOf(version), "utf8").split(separator)) database.exec(statement)
  database.close()
}
