/** Routing decisions, each as the JSON text of its record, so that they can be read after a restart. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  `CREATE TABLE decisions (
    request_id TEXT PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    record TEXT NOT NULL
  ) STRICT`,
  `CREATE INDEX decisions_at ON decisions (at_ms, request_id)`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
