/** The credential with which the health of an environment connection was observed: with another one in the variable the health is reset. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe("ALTER TABLE env_connection_health ADD COLUMN credential TEXT")
})
