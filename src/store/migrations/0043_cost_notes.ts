/** How the cost of a row came about, where its counts and its price do not say it all: what had no price, and a provider's own charge. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`ALTER TABLE usage_log ADD COLUMN cost_notes TEXT`)
)
