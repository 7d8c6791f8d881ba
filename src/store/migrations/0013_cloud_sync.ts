/** Cloud sync: where to, with which key (encrypted), and how far it has come. One row at most. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statement = `CREATE TABLE cloud_sync (
    id TEXT PRIMARY KEY CHECK (id = 'cloud'),
    cloud_url TEXT,
    shared_key TEXT,
    enabled INTEGER NOT NULL,
    version INTEGER NOT NULL,
    sent_hash TEXT,
    connected INTEGER,
    last_sync_at_ms INTEGER,
    last_error TEXT
  ) STRICT`

export default Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(statement))
