/**
 * Adds notes on the cost of a row, where it does not follow from its counts and its price: parts without a price, and a
 * provider's own charge.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`ALTER TABLE usage_log ADD COLUMN cost_notes TEXT`)
)
