/**
 * The models that upstreams list, by connection. Accounts of one provider mostly list the same, so each list is stored once, under
 * the hash of its text.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  `CREATE TABLE model_list_texts (
    hash TEXT PRIMARY KEY,
    models TEXT NOT NULL
  ) STRICT`,
  `CREATE TABLE model_lists (
    connection_id TEXT PRIMARY KEY,
    source TEXT NOT NULL,
    hash TEXT,
    learned_at_ms INTEGER,
    problem TEXT
  ) STRICT`,
  `CREATE INDEX model_lists_hash ON model_lists (hash)`
]

export default Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
})
