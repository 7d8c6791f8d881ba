/** The models upstreams listed last, by connection; a list is text that only its writer can parse. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { MaybeText, MaybeWhole, Text } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

const Row = Schema.Struct({
  connectionId: Text,
  /** Origin and path of the request. */
  source: Text,
  /** Hash of the list's text; null before the first answer. */
  hash: MaybeText,
  learnedAtMs: MaybeWhole,
  /** Reason for which the last request failed; null when it succeeded. */
  problem: MaybeText
})
export type ModelListRow = typeof Row.Type

const TextRow = Schema.Struct({ hash: Text, models: Text })

export class ModelListRepo extends Context.Tag("gateway/subjects/models/ModelListRepo")<
  ModelListRepo,
  {
    readonly list: Effect.Effect<ReadonlyArray<ModelListRow>, StoreError>
    /** Texts by their hash. */
    readonly texts: Effect.Effect<ReadonlyMap<string, string>, StoreError>
    /** `models` is the text of the row's hash; null when it is stored already. */
    readonly save: (row: ModelListRow, models: string | null) => Effect.Effect<void, StoreError>
    readonly remove: (connectionId: string) => Effect.Effect<void, StoreError>
  }
>() {}

const encode = (row: typeof Row.Type) => Schema.encode(Row)(row)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const lists = Table.make(sql, "model_lists", Row)
  const texts = Table.make(sql, "model_list_texts", TextRow)
  const dropUnused = sql`
    DELETE FROM model_list_texts WHERE hash NOT IN (SELECT hash FROM model_lists WHERE hash IS NOT NULL)`

  const save = Effect.fn("ModelListRepo.save")((row: ModelListRow, models: string | null) =>
    Effect.gen(function* () {
      if (row.hash !== null && models !== null) {
        yield* sql`INSERT INTO model_list_texts ${sql.insert({ hash: row.hash, models })} ON CONFLICT (hash) DO NOTHING`
      }
      const columns = yield* encode(row)
      yield* sql`
        INSERT INTO model_lists ${sql.insert(columns)}
        ON CONFLICT (connection_id) DO UPDATE SET ${sql.update(columns, ["connectionId"])}`
      if (models !== null) yield* dropUnused
    }).pipe(sql.withTransaction, Effect.mapError(Table.named("ModelListRepo.save")))
  )
  const remove = Effect.fn("ModelListRepo.remove")((connectionId: string) =>
    sql`DELETE FROM model_lists WHERE connection_id = ${connectionId}`.pipe(
      Effect.zipRight(dropUnused),
      sql.withTransaction,
      Effect.asVoid,
      Effect.mapError(Table.named("ModelListRepo.remove"))
    )
  )
  return ModelListRepo.of({
    list: lists.select("ModelListRepo.list", sql`ORDER BY learned_at_ms NULLS FIRST, connection_id`),
    texts: Effect.map(
      texts.select("ModelListRepo.texts", sql`ORDER BY hash`),
      (rows) => new Map(rows.map(({ hash, models }) => [hash, models]))
    ),
    save,
    remove
  })
})

export const layer: Layer.Layer<ModelListRepo, never, SqlClient.SqlClient> = Layer.effect(ModelListRepo, make)
