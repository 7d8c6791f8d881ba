/** Factors by which what teams cost is billed to them. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import { byEngine } from "../engine/Engine.ts"

const sqlite = "ALTER TABLE teams ADD COLUMN rate REAL NOT NULL DEFAULT 1"
const postgres = "ALTER TABLE teams ADD COLUMN rate DOUBLE PRECISION NOT NULL DEFAULT 1"

export default Effect.flatMap(SqlClient.SqlClient, (sql) => sql.unsafe(byEngine(sql, { sqlite, postgres })))
