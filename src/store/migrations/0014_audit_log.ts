/** Adds the audit log: one row per management request that may change something. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements = [
  `CREATE TABLE audit_log (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    timestamp_ms INTEGER NOT NULL,
    action TEXT NOT NULL,
    actor TEXT NOT NULL,
    target TEXT,
    resource_type TEXT NOT NULL,
    status TEXT NOT NULL,
    ip TEXT NOT NULL,
    details TEXT NOT NULL
  ) STRICT`,
  "CREATE INDEX audit_log_by_time ON audit_log (timestamp_ms)"
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
