/** Allocations of quota groups: what each API key has used, and whether a group is for allocated keys only. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  `CREATE TABLE quota_use (
    key TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`,
  `ALTER TABLE quota_groups ADD COLUMN restricted INTEGER NOT NULL DEFAULT 0`,
  `UPDATE quota_groups SET restricted = 1 WHERE json_array_length(allocations) > 0`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
