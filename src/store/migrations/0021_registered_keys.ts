/** Keys that programs register for one provider, how many may be issued, the providers a key is tied to, and the tracker that reports go to. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  `ALTER TABLE api_keys ADD COLUMN allowed_providers TEXT NOT NULL DEFAULT '[]'`,
  // A row outlives its key by a day: a key that was deleted still counts as issued. The hash is that of the caller's idempotency key.
  `CREATE TABLE registered_keys (
    key_id TEXT PRIMARY KEY,
    provider TEXT NOT NULL,
    account_id TEXT,
    idempotency_hash TEXT UNIQUE,
    issued_at_ms INTEGER NOT NULL,
    revoked_at_ms INTEGER
  ) STRICT`,
  `CREATE INDEX registered_keys_by_provider ON registered_keys (provider, issued_at_ms)`,
  `CREATE INDEX registered_keys_by_account ON registered_keys (account_id, issued_at_ms) WHERE account_id IS NOT NULL`,
  `CREATE TABLE issue_limits (
    scope TEXT NOT NULL CHECK (scope IN ('provider', 'account')),
    subject TEXT NOT NULL,
    max_active_keys INTEGER,
    daily_issue_limit INTEGER,
    hourly_issue_limit INTEGER,
    PRIMARY KEY (scope, subject)
  ) STRICT`,
  // One row at most; the token is encrypted.
  `CREATE TABLE issue_tracker (
    id TEXT PRIMARY KEY CHECK (id = 'tracker'),
    repository TEXT,
    api_url TEXT NOT NULL,
    token TEXT
  ) STRICT`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
