/** Names that resolve to models: aliases and quota groups. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  `CREATE TABLE model_aliases (alias TEXT PRIMARY KEY, model TEXT NOT NULL) STRICT, WITHOUT ROWID`,
  `CREATE TABLE quota_groups (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    members TEXT NOT NULL,
    allocations TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
