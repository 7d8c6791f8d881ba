/** Adds vectors of memories by an embedding model. Content is encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  // `id` is that of the memory, `memory_updated_at_ms` is the time of its state. `content` null: it could not be kept readable.
  `CREATE TABLE memory_vectors (
    id TEXT PRIMARY KEY,
    model TEXT NOT NULL,
    memory_updated_at_ms INTEGER NOT NULL,
    content TEXT
  ) STRICT`,
  `CREATE TRIGGER memory_vectors_of_removed AFTER DELETE ON memories BEGIN
    DELETE FROM memory_vectors WHERE id = old.id;
  END`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
