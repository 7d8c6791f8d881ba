/** Adds the meaning of a stored answer's question, so that the same question in other words finds it. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  // `bucket` is a hash of all that was asked besides the words; `meaning`, which holds a vector of these, is encrypted.
  `ALTER TABLE answer_cache ADD COLUMN bucket TEXT`,
  `ALTER TABLE answer_cache ADD COLUMN meaning TEXT`,
  `CREATE INDEX answer_cache_by_bucket ON answer_cache (bucket, created_at_ms) WHERE bucket IS NOT NULL`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
