/** Quiet hours of webhooks with the events that wait for their end, and who may see the content of a team's requests. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"
import { text } from "../engine/postgres/schema/text.ts"

const sqlite: ReadonlyArray<string> = [
  "ALTER TABLE webhooks ADD COLUMN time_zone TEXT NOT NULL DEFAULT 'UTC'",
  "ALTER TABLE webhooks ADD COLUMN quiet_hours TEXT",
  "ALTER TABLE webhook_outbox ADD COLUMN held INTEGER",
  "ALTER TABLE teams ADD COLUMN content TEXT NOT NULL DEFAULT 'none'",
  "ALTER TABLE teams ADD COLUMN content_notice TEXT"
]

/** The same for Postgres (`engine/postgres/schema`). */
const postgres: ReadonlyArray<string> = [
  `ALTER TABLE webhooks ADD COLUMN time_zone ${text} NOT NULL DEFAULT 'UTC'`,
  `ALTER TABLE webhooks ADD COLUMN quiet_hours ${text}`,
  "ALTER TABLE webhook_outbox ADD COLUMN held BIGINT",
  `ALTER TABLE teams ADD COLUMN content ${text} NOT NULL DEFAULT 'none'`,
  `ALTER TABLE teams ADD COLUMN content_notice ${text}`
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(byEngine(sql, { sqlite, postgres }), (statement) => sql.unsafe(statement), { discard: true })
)
