/** Adds the caller of a row, where it was the operator and no API key. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`ALTER TABLE usage_log ADD COLUMN principal TEXT`)
)
