/** Uploaded files; their bodies are in the folder `files` beside the database, under the id. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements = [
  // An empty owner stands for callers without an API key. Ids rise with time.
  `CREATE TABLE files (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    filename TEXT NOT NULL,
    purpose TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    created_at_ms INTEGER NOT NULL,
    expires_at_ms INTEGER
  ) STRICT`,
  `CREATE INDEX files_by_owner ON files (owner, id)`,
  `CREATE INDEX files_by_expiry ON files (expires_at_ms) WHERE expires_at_ms IS NOT NULL`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
