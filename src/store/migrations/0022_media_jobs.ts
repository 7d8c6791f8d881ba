/** Adds jobs that make videos and music, for clients that come back for the result. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements = [
  // An empty owner stands for callers without an API key. Ids rise with time. JSON: request, ticket, outputs, problem.
  `CREATE TABLE media_jobs (
    id TEXT PRIMARY KEY,
    owner TEXT NOT NULL,
    kind TEXT NOT NULL,
    request_id TEXT NOT NULL,
    model TEXT NOT NULL,
    request TEXT,
    status TEXT NOT NULL,
    progress INTEGER,
    provider TEXT,
    connection_id TEXT,
    provider_model TEXT,
    ticket TEXT,
    outputs TEXT,
    seconds TEXT,
    problem TEXT,
    created_at_ms INTEGER NOT NULL,
    submitted_at_ms INTEGER,
    ended_at_ms INTEGER,
    expires_at_ms INTEGER
  ) STRICT`,
  `CREATE INDEX media_jobs_by_owner ON media_jobs (owner, id)`,
  `CREATE INDEX media_jobs_open ON media_jobs (id) WHERE status IN ('queued', 'in_progress')`,
  `CREATE INDEX media_jobs_expiry ON media_jobs (expires_at_ms) WHERE expires_at_ms IS NOT NULL`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
