/** Tunnels that were opened, so that they are opened again at the next start. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  // `options` is JSON, `secret` is encrypted.
  `CREATE TABLE tunnels (
    backend TEXT PRIMARY KEY,
    is_enabled INTEGER NOT NULL,
    allow_keyless INTEGER NOT NULL,
    options TEXT NOT NULL,
    secret TEXT,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
