/** Whole outputs of tools, of which a compressed request has a part. Content is encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  // `owner` is the id of an API key, empty for callers without one. `content` null: it could not be kept readable.
  `CREATE TABLE raw_outputs (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    content TEXT,
    bytes INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX raw_outputs_by_owner ON raw_outputs (owner, last_used_at_ms)`,
  `CREATE INDEX raw_outputs_by_use ON raw_outputs (last_used_at_ms)`,
  `CREATE TRIGGER raw_outputs_of_removed_key AFTER DELETE ON api_keys BEGIN
    DELETE FROM raw_outputs WHERE owner = old.id;
  END`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
