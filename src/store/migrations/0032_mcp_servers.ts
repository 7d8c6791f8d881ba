/** MCP servers of others, whose tools are offered beside the gateway's own. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  // `headers` and `program` are encrypted. `url` null: it is a program.
  `CREATE TABLE mcp_servers (
    id TEXT PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    url TEXT,
    headers TEXT,
    program TEXT,
    timeout_ms INTEGER NOT NULL,
    is_enabled INTEGER NOT NULL,
    allowed_tools TEXT,
    allowed_keys TEXT,
    created_at_ms INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL
  ) STRICT`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
