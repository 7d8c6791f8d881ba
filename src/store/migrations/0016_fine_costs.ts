/**
 * Costs finer than a nano-USD. Columns are integers, so the rest has one of its own: added columns rewrite no row, whatever the size of the log,
 * and what an older version wrote stays right.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const columns: ReadonlyArray<readonly [table: string, column: string]> = [
  ["usage_log", "cost_nano_parts"],
  ["usage_minutes", "cost_nano_parts"],
  ["usage_hours", "cost_nano_parts"],
  ["usage_days", "cost_nano_parts"],
  ["ledger_entries", "settled_nano_parts"]
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(
    columns,
    ([table, column]) => sql.unsafe(`ALTER TABLE ${table} ADD COLUMN ${column} INTEGER NOT NULL DEFAULT 0`),
    { discard: true }
  )
)
