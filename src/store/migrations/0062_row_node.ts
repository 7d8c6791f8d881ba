/** Name of the gateway that has written a row, of several on one database; null: it had its database for itself. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"
import { text } from "../engine/postgres/schema/text.ts"

const sqlite = "ALTER TABLE usage_log ADD COLUMN node TEXT"
const postgres = `ALTER TABLE usage_log ADD COLUMN node ${text}`

export default Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(byEngine(sql, { sqlite, postgres })))
