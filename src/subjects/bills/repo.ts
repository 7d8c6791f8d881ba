/** Bills that were closed; none of them is changed again. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Text, Whole } from "../../store/engine/Columns.ts"
import * as Records from "../../store/engine/Records.ts"
import type { ClosedBill } from "./entity.ts"

export class BillRepo extends Context.Tag("gateway/subjects/bills/BillRepo")<
  BillRepo,
  Pick<Records.Records<ClosedBill, ClosedBill>, "get" | "insert" | "list">
>() {}

const Row = Schema.Struct({
  id: Text,
  month: Text,
  timeZone: Text,
  lastSeq: Whole,
  checksum: Text,
  report: Text,
  createdAtMs: Whole
})

export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  BillRepo.of(Records.make(sql, { name: "BillRepo", table: "bills", row: Row }))
)

export const layer: Layer.Layer<BillRepo, never, SqlClient.SqlClient> = Layer.effect(BillRepo, make)
