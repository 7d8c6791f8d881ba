/** What an upstream told of its tokens, where the gateway has booked its own count instead. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`ALTER TABLE usage_log ADD COLUMN told_tokens TEXT`)
)
