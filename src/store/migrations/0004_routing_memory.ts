/** Routing state that must survive a restart: the memory of strategies, and quota windows by connection. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  `CREATE TABLE router_memory (
    key TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`,
  `CREATE TABLE quota_windows (
    key TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
