/**
 * Adds the texts of memories before turns of sessions, so that a restart changes no prefix of a session. Texts are encrypted, turns are
 * known by keyed hashes.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  // `owner` is the id of an API key, empty for callers without one. `content` null: it could not be kept readable.
  `CREATE TABLE memory_blocks (
    turn TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    content TEXT,
    bytes INTEGER NOT NULL,
    last_used_at_ms INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX memory_blocks_by_use ON memory_blocks (last_used_at_ms)`,
  `CREATE INDEX memory_blocks_by_owner ON memory_blocks (owner)`,
  // Which memories a block holds: it goes with each of them.
  `CREATE TABLE memory_block_members (
    memory_id TEXT NOT NULL,
    turn TEXT NOT NULL,
    PRIMARY KEY (memory_id, turn)
  ) STRICT, WITHOUT ROWID`,
  `CREATE INDEX memory_block_members_by_turn ON memory_block_members (turn)`,
  `CREATE TRIGGER memory_blocks_removed AFTER DELETE ON memory_blocks BEGIN
    DELETE FROM memory_block_members WHERE turn = old.turn;
  END`,
  `CREATE TRIGGER memory_blocks_of_removed_memory AFTER DELETE ON memories BEGIN
    DELETE FROM memory_blocks WHERE turn IN (SELECT turn FROM memory_block_members WHERE memory_id = old.id);
  END`,
  `CREATE TRIGGER memory_blocks_of_removed_key AFTER DELETE ON api_keys BEGIN
    DELETE FROM memory_blocks WHERE owner = old.id;
  END`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
