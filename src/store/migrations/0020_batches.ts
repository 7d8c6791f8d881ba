/** Batches; what became of their lines is in the folder `batches` beside the database. Requests are known by their batch. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements = [
  // An empty owner stands for callers without an API key. Ids rise with time. JSON: metadata, problems, provider.
  `CREATE TABLE batches (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    input_file_id TEXT NOT NULL,
    status TEXT NOT NULL,
    ending TEXT,
    metadata TEXT,
    output_kept_ms INTEGER,
    created_at_ms INTEGER NOT NULL,
    in_progress_at_ms INTEGER,
    expires_at_ms INTEGER NOT NULL,
    finalizing_at_ms INTEGER,
    completed_at_ms INTEGER,
    failed_at_ms INTEGER,
    expired_at_ms INTEGER,
    cancelling_at_ms INTEGER,
    cancelled_at_ms INTEGER,
    total INTEGER NOT NULL,
    completed INTEGER NOT NULL,
    failed INTEGER NOT NULL,
    problems TEXT NOT NULL,
    output_file_id TEXT,
    error_file_id TEXT,
    provider TEXT
  ) STRICT`,
  `CREATE INDEX batches_by_owner ON batches (owner, id)`,
  `CREATE INDEX batches_open ON batches (id) WHERE status IN ('validating', 'in_progress', 'finalizing', 'cancelling')`,
  `ALTER TABLE usage_log ADD COLUMN batch_id TEXT`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
