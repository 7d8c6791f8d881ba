/** Reports that were told, by their periods. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Text, Whole } from "../../store/engine/Columns.ts"
import * as Records from "../../store/engine/Records.ts"

export interface ToldReport {
  /** `<kind>/<first day>`. */
  readonly id: string
  readonly createdAtMs: number
}

export class ReportRepo extends Context.Tag("gateway/subjects/bills/ReportRepo")<
  ReportRepo,
  Pick<Records.Records<ToldReport, ToldReport>, "get" | "insert">
>() {}

export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  ReportRepo.of(
    Records.make(sql, {
      name: "ReportRepo",
      table: "told_reports",
      row: Schema.Struct({ id: Text, createdAtMs: Whole })
    })
  )
)

export const layer: Layer.Layer<ReportRepo, never, SqlClient.SqlClient> = Layer.effect(ReportRepo, make)
