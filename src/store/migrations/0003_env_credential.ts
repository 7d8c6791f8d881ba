/** Which credential an environment connection's health was observed with: another one in the variable starts anew. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe("ALTER TABLE env_connection_health ADD COLUMN credential TEXT")
})
