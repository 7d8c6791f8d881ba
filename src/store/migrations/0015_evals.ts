/** Suites of evaluations that were added, runs, and what became of each case. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements = [
  `CREATE TABLE eval_suites (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    cases TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`,
  // Costs are REAL: a single answer may cost less than a nano-USD.
  `CREATE TABLE eval_runs (
    id TEXT PRIMARY KEY,
    suite_id TEXT NOT NULL,
    suite_name TEXT NOT NULL,
    target_type TEXT NOT NULL,
    target_id TEXT NOT NULL,
    api_key_id TEXT,
    compared_with TEXT,
    status TEXT NOT NULL,
    reason TEXT,
    total INTEGER NOT NULL,
    passed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    cost_nano_usd REAL NOT NULL,
    latency_ms INTEGER NOT NULL,
    started_at_ms INTEGER NOT NULL,
    finished_at_ms INTEGER
  ) STRICT`,
  `CREATE TABLE eval_results (
    run_id TEXT NOT NULL,
    position INTEGER NOT NULL,
    case_id TEXT NOT NULL,
    name TEXT NOT NULL,
    passed INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    latency_ms INTEGER NOT NULL,
    output TEXT,
    reason TEXT,
    request_id TEXT NOT NULL,
    provider TEXT,
    model TEXT,
    cost_nano_usd REAL NOT NULL,
    PRIMARY KEY (run_id, position)
  ) STRICT, WITHOUT ROWID`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
