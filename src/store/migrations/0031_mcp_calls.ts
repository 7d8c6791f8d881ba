/** Calls of MCP tools. What was given is kept as a hash only. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  // `api_key_id` null: no API key called. `input_hash` is SHA-256, in hex.
  `CREATE TABLE mcp_tool_audit (
    id TEXT PRIMARY KEY,
    at_ms INTEGER NOT NULL,
    tool TEXT NOT NULL,
    api_key_id TEXT,
    input_hash TEXT NOT NULL,
    output_summary TEXT NOT NULL,
    duration_ms INTEGER NOT NULL,
    success INTEGER NOT NULL
  ) STRICT`,
  `CREATE INDEX mcp_tool_audit_at ON mcp_tool_audit (at_ms)`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
