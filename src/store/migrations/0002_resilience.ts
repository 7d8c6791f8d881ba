/** Resilience state that must survive a restart: breakers, and the health of connections without a row of their own. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  `CREATE TABLE breakers (
    provider TEXT PRIMARY KEY,
    phase TEXT NOT NULL,
    failures INTEGER NOT NULL,
    opened_at_ms INTEGER,
    failed_probes INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE env_connection_health (
    id TEXT PRIMARY KEY,
    test_status TEXT NOT NULL,
    rate_limited_until_ms INTEGER,
    last_error TEXT,
    last_error_type TEXT,
    error_code TEXT,
    backoff_level INTEGER NOT NULL
  ) STRICT`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
