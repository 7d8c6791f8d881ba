/** Adds counts of web searches at each provider, by API key. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements = [
  `CREATE TABLE search_counts (
    key TEXT PRIMARY KEY,
    state TEXT NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
