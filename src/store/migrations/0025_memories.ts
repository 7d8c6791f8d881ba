/**
 * Memories of API keys. Content is encrypted; the full-text index holds keyed hashes of its words, so that the words of users are neither in
 * the table nor in the index.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  // `owner` is the id of an API key, empty for callers without one. `content` has key and text; null: it could not be kept readable.
  `CREATE TABLE memories (
    seq INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    owner TEXT NOT NULL,
    type TEXT NOT NULL CHECK (type IN ('factual', 'episodic', 'procedural', 'semantic')),
    source TEXT NOT NULL CHECK (source IN ('added', 'extracted')),
    key_hash TEXT NOT NULL,
    content TEXT,
    session_id TEXT,
    bytes INTEGER NOT NULL,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    last_used_at_ms INTEGER NOT NULL,
    UNIQUE (owner, type, key_hash)
  ) STRICT`,
  `CREATE INDEX memories_by_use ON memories (last_used_at_ms)`,
  `CREATE VIRTUAL TABLE memory_index USING fts5(terms, content = '', contentless_delete = 1, tokenize = 'ascii')`,
  `CREATE TRIGGER memories_removed AFTER DELETE ON memories BEGIN
    DELETE FROM memory_index WHERE rowid = old.seq;
  END`,
  `CREATE TRIGGER memories_of_removed_key AFTER DELETE ON api_keys BEGIN
    DELETE FROM memories WHERE owner = old.id;
  END`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
