/** Webhooks, the events that wait for them, and their last attempts. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  `CREATE TABLE webhooks (
    id TEXT PRIMARY KEY,
    url TEXT NOT NULL,
    events TEXT NOT NULL,
    kind TEXT NOT NULL,
    secret TEXT,
    enabled INTEGER NOT NULL,
    description TEXT,
    created_at_ms INTEGER NOT NULL,
    last_triggered_at_ms INTEGER,
    last_status INTEGER,
    failure_count INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE webhook_outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    event TEXT NOT NULL,
    at_ms INTEGER NOT NULL,
    data TEXT NOT NULL,
    UNIQUE (webhook_id, event_id)
  ) STRICT`,
  `CREATE INDEX webhook_outbox_order ON webhook_outbox (webhook_id, seq)`,
  `CREATE TABLE webhook_deliveries (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    webhook_id TEXT NOT NULL,
    event_id TEXT NOT NULL,
    event TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    status INTEGER NOT NULL,
    success INTEGER NOT NULL,
    error TEXT,
    latency_ms INTEGER NOT NULL,
    at_ms INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX webhook_deliveries_of ON webhook_deliveries (webhook_id, id)`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
