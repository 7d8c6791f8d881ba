/** Routing combos. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type Combo, ComboStrategy, ComboTarget } from "./entity.ts"
import { Flag, Json, Text, Whole } from "../../store/engine/Columns.ts"
import * as Records from "../../store/engine/Records.ts"

export class ComboRepo extends Context.Tag("gateway/subjects/combos/ComboRepo")<
  ComboRepo,
  Records.Records<Combo, Combo>
>() {}

const Row = Schema.Struct({
  id: Text,
  name: Text,
  strategy: ComboStrategy,
  targets: Json(Schema.Array(ComboTarget)),
  config: Json(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  isActive: Flag,
  createdAtMs: Whole,
  updatedAtMs: Whole
})

export const make = Effect.map(SqlClient.SqlClient, (sql) =>
  ComboRepo.of(
    Records.make(sql, {
      name: "ComboRepo",
      table: "combos",
      row: Row,
      order: sql`ORDER BY name`,
      remembered: (a, b) => (a.name < b.name ? -1 : 1)
    })
  )
)

export const layer: Layer.Layer<ComboRepo, never, SqlClient.SqlClient> = Layer.effect(ComboRepo, make)
