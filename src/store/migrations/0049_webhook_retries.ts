/** Keeps the event of an attempt that was the last one and failed, so that it can be sent again. It goes with its row. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const statements: ReadonlyArray<string> = [
  "ALTER TABLE webhook_deliveries ADD COLUMN event_at_ms INTEGER",
  "ALTER TABLE webhook_deliveries ADD COLUMN data TEXT"
]

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
)
