/** Keeps who began work without a key (`contract/domain/Usage.KnownCaller`), so that what is asked after its request is booked as theirs. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"

const tables = ["batches", "media_jobs", "eval_runs"] as const

export default Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.forEach(tables, (table) => sql.unsafe(`ALTER TABLE ${table} ADD COLUMN caller TEXT`), { discard: true })
)
