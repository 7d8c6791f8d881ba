/** Adds the mail settings of webhooks of the kind `email`: one encrypted value. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe("ALTER TABLE webhooks ADD COLUMN mail TEXT"))
