/** Recorded sessions of the traffic inspector. A record is encrypted as a whole. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  // `bytes`: of all its records before they were encrypted.
  `CREATE TABLE inspector_sessions (
    id TEXT PRIMARY KEY,
    name TEXT,
    state TEXT NOT NULL CHECK (state IN ('recording', 'saved', 'interrupted')),
    profile TEXT NOT NULL,
    started_at_ms INTEGER NOT NULL,
    ended_at_ms INTEGER,
    request_count INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    truncated INTEGER NOT NULL
  ) STRICT`,
  // One records at a time.
  `CREATE UNIQUE INDEX inspector_sessions_recording ON inspector_sessions (state) WHERE state = 'recording'`,
  // `content` null: it could not be kept readable.
  `CREATE TABLE inspector_records (
    id TEXT PRIMARY KEY,
    session_id TEXT NOT NULL REFERENCES inspector_sessions (id) ON DELETE CASCADE,
    record_id TEXT NOT NULL,
    seq INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    saved_at_ms INTEGER NOT NULL,
    content TEXT,
    UNIQUE (session_id, record_id)
  ) STRICT`,
  `CREATE INDEX inspector_records_in_order ON inspector_records (session_id, seq)`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
