/** Bills of months that were closed: what they said then, and how far the log had been written. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"
import { text } from "../engine/postgres/schema/text.ts"

const sqlite = `CREATE TABLE bills (
  id TEXT PRIMARY KEY,
  month TEXT NOT NULL,
  time_zone TEXT NOT NULL,
  last_seq INTEGER NOT NULL,
  checksum TEXT NOT NULL,
  report TEXT NOT NULL,
  created_at_ms INTEGER NOT NULL
) STRICT`

const postgres = `CREATE TABLE bills (
  id ${text} PRIMARY KEY,
  month ${text} NOT NULL,
  time_zone ${text} NOT NULL,
  last_seq BIGINT NOT NULL,
  checksum ${text} NOT NULL,
  report ${text} NOT NULL,
  created_at_ms BIGINT NOT NULL
)`

export default Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(byEngine(sql, { sqlite, postgres })))
