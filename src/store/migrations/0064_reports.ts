/** Reports of weeks and months that were told to webhooks: each is told once, also by several gateways on one database. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"
import { text } from "../engine/postgres/schema/text.ts"

const sqlite = "CREATE TABLE told_reports (id TEXT PRIMARY KEY, created_at_ms INTEGER NOT NULL) STRICT"
const postgres = `CREATE TABLE told_reports (id ${text} PRIMARY KEY, created_at_ms BIGINT NOT NULL)`

export default Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(byEngine(sql, { sqlite, postgres })))
