/**
 * Adds the session of a request, and keeps the names of connections and API keys that are deleted: rows of the usage log outlive both. Names are
 * kept by triggers, so that no way to delete is without them.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const keepName = (
  table: string,
  kind: string
): string => `CREATE TRIGGER usage_names_of_removed_${kind} AFTER DELETE ON ${table} BEGIN
    INSERT INTO usage_names (kind, id, name, removed_at_ms) VALUES ('${kind}', OLD.id, OLD.name, CAST(unixepoch('subsec') * 1000 AS INTEGER))
    ON CONFLICT (kind, id) DO UPDATE SET name = excluded.name, removed_at_ms = excluded.removed_at_ms;
  END`

const statements: ReadonlyArray<string> = [
  "ALTER TABLE usage_log ADD COLUMN session_id TEXT",
  "CREATE INDEX usage_log_sessions ON usage_log (session_id, id) WHERE session_id IS NOT NULL",
  `CREATE TABLE usage_names (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    name TEXT NOT NULL,
    removed_at_ms INTEGER NOT NULL,
    PRIMARY KEY (kind, id)
  ) STRICT, WITHOUT ROWID`,
  keepName("api_keys", "key"),
  keepName("connections", "connection")
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
