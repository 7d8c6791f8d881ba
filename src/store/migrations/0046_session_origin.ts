/** Adds how an admin session began, so that its owner knows it in a list. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(
    ["via TEXT NOT NULL DEFAULT 'password'", "address TEXT NOT NULL DEFAULT ''", "user_agent TEXT NOT NULL DEFAULT ''"],
    (column) => sql.unsafe(`ALTER TABLE sessions ADD COLUMN ${column}`),
    { discard: true }
  )
)
