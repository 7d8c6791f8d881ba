/** Answers that are kept for the same request of the same caller. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  // `key` is a hash of the request; `owner` the id of an API key, empty for callers without one. `content` is encrypted.
  `CREATE TABLE answer_cache (
    key TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    version INTEGER NOT NULL,
    content TEXT,
    bytes INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX answer_cache_by_age ON answer_cache (created_at_ms, bytes)`,
  `CREATE INDEX answer_cache_by_owner ON answer_cache (owner)`,
  `CREATE TRIGGER answer_cache_of_removed_key AFTER DELETE ON api_keys BEGIN
    DELETE FROM answer_cache WHERE owner = old.id;
  END`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
