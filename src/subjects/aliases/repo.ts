/** Aliases of models (`/api/models/alias`). */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Text } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

const Row = Schema.Struct({
  /** Name that a client asks for. */
  alias: Text,
  /** Any id that can be requested, also another alias. */
  model: Text
})

export type ModelAlias = typeof Row.Type

export class AliasRepo extends Context.Tag("gateway/subjects/aliases/AliasRepo")<
  AliasRepo,
  {
    /** Lists by alias. */
    readonly list: Effect.Effect<ReadonlyArray<ModelAlias>, StoreError>
    /** Stores an alias, replacing one of the same name. */
    readonly set: (alias: ModelAlias) => Effect.Effect<void, StoreError>
    /** False when there is none. */
    readonly remove: (alias: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "model_aliases", Row)

  const list = Effect.withSpan(table.select("AliasRepo.list", sql`ORDER BY alias`), "AliasRepo.list")
  const set = Effect.fn("AliasRepo.set")(({ alias, model }: ModelAlias) =>
    sql`
      INSERT INTO model_aliases (alias, model) VALUES (${alias}, ${model})
      ON CONFLICT (alias) DO UPDATE SET model = excluded.model`.pipe(
      Effect.asVoid,
      Effect.mapError(Table.named("AliasRepo.set"))
    )
  )
  const remove = Effect.fn("AliasRepo.remove")((alias: string) =>
    table.remove("AliasRepo.remove", sql`alias = ${alias}`)
  )
  return AliasRepo.of({ list, set, remove })
})

export const layer: Layer.Layer<AliasRepo, never, SqlClient.SqlClient> = Layer.effect(AliasRepo, make)
