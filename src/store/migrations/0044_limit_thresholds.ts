/** Adds the last notice of a limit in its latest window: that it neared its end, or that it was used up. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  sql.unsafe(`ALTER TABLE limit_notices ADD COLUMN threshold TEXT NOT NULL DEFAULT 'limit'`)
)
