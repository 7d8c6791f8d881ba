/**
 * Limits of API keys, and the ledger. A usage row is the ledger's entry of a request with one call; `ledger_entries` has those of requests
 * with several calls, and of calls that a crash left open.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  `CREATE TABLE budgets (
    api_key_id TEXT PRIMARY KEY,
    daily_limit_nano_usd INTEGER NOT NULL,
    weekly_limit_nano_usd INTEGER NOT NULL,
    monthly_limit_nano_usd INTEGER NOT NULL,
    warning_threshold REAL NOT NULL,
    reset_interval TEXT NOT NULL,
    reset_time TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE token_limits (
    id TEXT PRIMARY KEY,
    api_key_id TEXT NOT NULL,
    scope_type TEXT NOT NULL,
    scope_value TEXT NOT NULL,
    token_limit INTEGER NOT NULL,
    reset_interval TEXT NOT NULL,
    reset_time TEXT NOT NULL,
    time_zone TEXT NOT NULL,
    enabled INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    UNIQUE (api_key_id, scope_type, scope_value, reset_interval)
  ) STRICT`,
  // A limit, and the latest window in which its end was reported.
  `CREATE TABLE limit_notices (
    limit_id TEXT PRIMARY KEY,
    window_start_ms INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE ledger_entries (
    request_id TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    api_key_id TEXT,
    provider TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    model TEXT NOT NULL,
    state TEXT NOT NULL,
    reserved_nano_usd INTEGER NOT NULL,
    settled_nano_usd INTEGER,
    price TEXT,
    created_at_ms INTEGER NOT NULL,
    settled_at_ms INTEGER,
    PRIMARY KEY (request_id, attempt)
  ) STRICT, WITHOUT ROWID`,
  `ALTER TABLE usage_log ADD COLUMN reserved_nano_usd INTEGER NOT NULL DEFAULT 0`,
  `ALTER TABLE usage_log ADD COLUMN price TEXT`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
