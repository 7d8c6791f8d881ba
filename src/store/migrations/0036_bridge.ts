/** The agent bridge: what is set for each agent, which model is asked in place of which, and hosts that are never decrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  `CREATE TABLE bridge_agents (
    agent_id TEXT PRIMARY KEY,
    dns_enabled INTEGER NOT NULL,
    setup_completed INTEGER NOT NULL,
    last_started_at_ms INTEGER,
    last_error TEXT
  ) STRICT`,
  // `position`: the first that matches counts.
  `CREATE TABLE bridge_mappings (
    agent_id TEXT NOT NULL,
    source_model TEXT NOT NULL,
    target_model TEXT NOT NULL,
    position INTEGER NOT NULL,
    updated_at_ms INTEGER NOT NULL,
    PRIMARY KEY (agent_id, source_model)
  ) STRICT`,
  `CREATE TABLE bridge_bypass (
    pattern TEXT PRIMARY KEY,
    position INTEGER NOT NULL
  ) STRICT`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
