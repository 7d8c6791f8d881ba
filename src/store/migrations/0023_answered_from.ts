/** Adds the source of an answer without a call. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`ALTER TABLE usage_log ADD COLUMN answered_from TEXT`)
)
