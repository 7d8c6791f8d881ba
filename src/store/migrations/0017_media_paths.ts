/** Paths of a provider node's endpoints for other requests than conversations. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql.unsafe("ALTER TABLE provider_nodes ADD COLUMN media_paths TEXT")
})
