/**
 * Sums of the usage log by hour and day, which outlive its rows. The log's rows get a number that rises in the order they were written, is
 * kept by VACUUM, and is given out once only: up to which number rows are in the sums is all that has to be remembered.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

interface ColumnInfo {
  readonly name: string
  readonly type: string
  readonly notnull: number
  readonly dfltValue: string | null
}

/** A table of sums; a key, provider, connection or model that a row does not have is the empty text. */
const sums = (table: string): string => `CREATE TABLE ${table} (
    start_ms INTEGER NOT NULL,
    api_key_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    model TEXT NOT NULL,
    requests INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    aborted INTEGER NOT NULL,
    admitted INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    tokens_cache_read INTEGER NOT NULL,
    tokens_cache_write INTEGER NOT NULL,
    tokens_reasoning INTEGER NOT NULL,
    cost_nano_usd INTEGER NOT NULL,
    latency_ms INTEGER NOT NULL,
    ttft_ms INTEGER NOT NULL,
    ttft_count INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    PRIMARY KEY (start_ms, api_key_id, provider, connection_id, model)
  ) STRICT, WITHOUT ROWID`

const tables: ReadonlyArray<string> = [
  sums("usage_hours"),
  sums("usage_days"),
  // Of rows that were deleted, where limits of keys may still need them by the minute.
  sums("usage_minutes"),
  `CREATE INDEX usage_hours_api_key ON usage_hours (api_key_id, start_ms) WHERE api_key_id <> ''`,
  `CREATE INDEX usage_minutes_api_key ON usage_minutes (api_key_id, start_ms) WHERE api_key_id <> ''`,
  `CREATE TABLE usage_summed (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL) STRICT`,
  `INSERT INTO usage_summed (id, seq) VALUES (1, 0)`
]

/** Makes the table again with the number as its key; its other columns stay as they are. */
const number = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = yield* sql.unsafe<ColumnInfo>("PRAGMA table_info(usage_log)")
  const indexes = yield* sql.unsafe<{ readonly sql: string }>(
    "SELECT sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'usage_log' AND sql IS NOT NULL"
  )
  const definitions = columns.map(({ dfltValue, name, notnull, type }) =>
    name === "id"
      ? "id TEXT NOT NULL UNIQUE"
      : `${name} ${type}${notnull === 1 ? " NOT NULL" : ""}${dfltValue === null ? "" : ` DEFAULT ${dfltValue}`}`
  )
  const names = columns.map(({ name }) => name).join(", ")
  const statements = [
    `CREATE TABLE usage_log_numbered (seq INTEGER PRIMARY KEY AUTOINCREMENT, ${definitions.join(", ")}) STRICT`,
    `INSERT INTO usage_log_numbered (${names}) SELECT ${names} FROM usage_log ORDER BY rowid`,
    "DROP TABLE usage_log",
    "ALTER TABLE usage_log_numbered RENAME TO usage_log",
    ...indexes.map((index) => index.sql)
  ]
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* number
  yield* Effect.forEach(tables, (statement) => sql.unsafe(statement), { discard: true })
})
