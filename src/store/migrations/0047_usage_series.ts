/**
 * Sums of the usage log by minute, quarter of an hour, hour and day, for each kind of request: who asked, what served it and how it ended, with
 * the requests by their latency. In cube 1 keys and connections are not told apart, so that it stays small. Nothing is filled in here: existing rows
 * are added in small steps after the start, as new ones are.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const latencies = Array.from({ length: 24 }, (_, n) => `latency_${n} INTEGER NOT NULL`).join(",\n    ")

const statements: ReadonlyArray<string> = [
  `CREATE TABLE usage_kinds (
    id INTEGER PRIMARY KEY,
    cube INTEGER NOT NULL,
    api_key_id TEXT NOT NULL,
    provider TEXT NOT NULL,
    connection_id TEXT NOT NULL,
    model TEXT NOT NULL,
    combo TEXT NOT NULL,
    outcome TEXT NOT NULL,
    status INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    UNIQUE (cube, api_key_id, provider, connection_id, model, combo, outcome, status)
  ) STRICT`,
  "CREATE INDEX usage_kinds_last ON usage_kinds (last_ms)",
  `CREATE TABLE usage_series (
    cube INTEGER NOT NULL,
    step_ms INTEGER NOT NULL,
    start_ms INTEGER NOT NULL,
    kind_id INTEGER NOT NULL,
    requests INTEGER NOT NULL,
    tokens_in INTEGER NOT NULL,
    tokens_out INTEGER NOT NULL,
    tokens_cache_read INTEGER NOT NULL,
    cost_nano_usd INTEGER NOT NULL,
    cost_nano_parts INTEGER NOT NULL,
    least_ms INTEGER NOT NULL,
    most_ms INTEGER NOT NULL,
    ${latencies},
    PRIMARY KEY (cube, step_ms, start_ms, kind_id)
  ) STRICT, WITHOUT ROWID`,
  "CREATE TABLE usage_series_summed (id INTEGER PRIMARY KEY CHECK (id = 1), seq INTEGER NOT NULL) STRICT",
  "INSERT INTO usage_series_summed (id, seq) VALUES (1, 0)"
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
