/** Adds the counts of tokens that an upstream reported, where the gateway has booked its own instead. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`ALTER TABLE usage_log ADD COLUMN told_tokens TEXT`)
)
