/** Presets of the playground: they belong to all callers. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`CREATE TABLE playground_presets (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    model TEXT NOT NULL,
    system TEXT,
    params_json TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL
  ) STRICT`)
)
