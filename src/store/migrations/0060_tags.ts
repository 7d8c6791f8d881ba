/** Tags of requests, as their callers gave them (`contract/domain/Tags`); null: none. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"
import { text } from "../engine/postgres/schema/text.ts"

const sqlite = "ALTER TABLE usage_log ADD COLUMN tags TEXT"
const postgres = `ALTER TABLE usage_log ADD COLUMN tags ${text}`

export default Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(byEngine(sql, { sqlite, postgres })))
