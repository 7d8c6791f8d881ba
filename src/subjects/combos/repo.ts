/** Routing combos. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type Combo, ComboStrategy, ComboTarget } from "./entity.ts"
import { Flag, Json, Text, Whole } from "../../store/engine/Columns.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import * as RememberedRows from "../../store/engine/RememberedRows.ts"
import * as Table from "../../store/engine/Table.ts"

export class ComboRepo extends Context.Tag("gateway/subjects/combos/ComboRepo")<
  ComboRepo,
  {
    /** Lists by name. */
    readonly list: Effect.Effect<ReadonlyArray<Combo>, StoreError>
    readonly get: (id: string) => Effect.Effect<Combo | null, StoreError>
    /** A name already in use is an `AlreadyStored`. */
    readonly insert: (combo: Combo) => Effect.Effect<void, StoreError | AlreadyStored>
    /** Replaces the record; false when there is no such id. */
    readonly update: (combo: Combo) => Effect.Effect<boolean, StoreError | AlreadyStored>
    readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
  }
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

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "combos", Row)

  const get = Effect.fn("ComboRepo.get")((id: string) => table.first("ComboRepo.get", sql`WHERE id = ${id}`))
  const rows = RememberedRows.make({
    keyOf: (combo: Combo) => combo.id,
    all: table.select("ComboRepo.list", sql`ORDER BY name`),
    one: get,
    order: (a, b) => (a.name < b.name ? -1 : 1)
  })
  const list = Effect.withSpan(rows.list, "ComboRepo.list")
  const insert = Effect.fn("ComboRepo.insert")((combo: Combo) =>
    rows.writing(combo.id)(table.insert("ComboRepo.insert", combo))
  )
  const update = Effect.fn("ComboRepo.update")((combo: Combo) =>
    rows.writing(combo.id)(table.update("ComboRepo.update", sql`id = ${combo.id}`, combo))
  )
  const remove = Effect.fn("ComboRepo.remove")((id: string) =>
    rows.writing(id)(table.remove("ComboRepo.remove", sql`id = ${id}`))
  )
  return ComboRepo.of({ list, get, insert, update, remove })
})

export const layer: Layer.Layer<ComboRepo, never, SqlClient.SqlClient> = Layer.effect(ComboRepo, make)
