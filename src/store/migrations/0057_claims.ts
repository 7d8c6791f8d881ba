/** Claims of gateways on one database: work that one of them does at a time (`store/nodes/ClaimRows`). A database of SQLite has one gateway: there it stays empty. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"
import { text } from "../engine/postgres/schema/text.ts"

const sqlite = `CREATE TABLE cluster_claims (
    name TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    fence INTEGER NOT NULL,
    expires_at_ms INTEGER NOT NULL
  ) STRICT`

const postgres = `CREATE TABLE cluster_claims (
    name ${text} PRIMARY KEY,
    holder ${text} NOT NULL,
    fence BIGINT NOT NULL,
    expires_at_ms BIGINT NOT NULL
  )`

export default Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(byEngine(sql, { sqlite, postgres })))
