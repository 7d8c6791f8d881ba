/**
 * Adds the owner of a preset: the id of an API key, or empty for callers without one and for those of the time before.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`ALTER TABLE playground_presets ADD COLUMN owner TEXT NOT NULL DEFAULT ''`)
)
