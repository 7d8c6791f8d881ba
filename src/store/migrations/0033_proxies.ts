/** Egress proxies, who uses them, and the way each call took. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  // `password` is encrypted.
  `CREATE TABLE proxies (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    type TEXT NOT NULL,
    host TEXT NOT NULL,
    port INTEGER NOT NULL,
    username TEXT,
    password TEXT,
    family TEXT NOT NULL DEFAULT 'auto',
    source TEXT NOT NULL DEFAULT 'manual',
    is_active INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`,
  // No reference to `proxies`: the assignment of a proxy that was removed stays, so that its calls fail in place of going direct.
  `CREATE TABLE proxy_assignments (
    scope TEXT NOT NULL,
    scope_id TEXT NOT NULL,
    proxy_id TEXT NOT NULL,
    PRIMARY KEY (scope, scope_id)
  ) STRICT`,
  `ALTER TABLE connections ADD COLUMN proxy_enabled INTEGER NOT NULL DEFAULT 1`,
  // Encrypted, because it may hold a private key.
  `ALTER TABLE connections ADD COLUMN transport TEXT`,
  `ALTER TABLE usage_log ADD COLUMN egress TEXT`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
