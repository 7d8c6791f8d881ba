/** Presets of the playground. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { PlaygroundEndpoint, type Preset, type PresetFields } from "./entity.ts"
import { MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"
import * as Records from "../../store/engine/Records.ts"

export class PlaygroundPresetRepo extends Context.Tag("gateway/subjects/playground/PlaygroundPresetRepo")<
  PlaygroundPresetRepo,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<Preset>, StoreError>
    readonly countOf: (owner: string) => Effect.Effect<number, StoreError>
    readonly get: (id: string) => Effect.Effect<Preset | null, StoreError>
    readonly insert: (preset: Preset) => Effect.Effect<void, StoreError | AlreadyStored>
    /** False when there is no such id. */
    readonly update: (id: string, fields: PresetFields) => Effect.Effect<boolean, StoreError>
    /** False when there is no such id. */
    readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

const Row = Schema.Struct({
  id: Text,
  owner: Text,
  name: Text,
  endpoint: PlaygroundEndpoint,
  model: Text,
  system: MaybeText,
  paramsJson: Text,
  createdAtMs: Whole
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { get, insert, list, remove } = Records.make(sql, {
    name: "PlaygroundPresetRepo",
    table: "playground_presets",
    row: Row
  })
  const countOf = Effect.fn("PlaygroundPresetRepo.countOf")((owner: string) =>
    sql<{ count: number }>`SELECT COUNT(*) AS count FROM playground_presets WHERE owner = ${owner}`.pipe(
      Effect.mapBoth({
        onFailure: Table.named("PlaygroundPresetRepo.countOf"),
        onSuccess: ([row]) => row?.count ?? 0
      })
    )
  )
  const update = Effect.fn("PlaygroundPresetRepo.update")(
    (id: string, { endpoint, model, name, paramsJson, system }: PresetFields) =>
      sql`UPDATE playground_presets SET ${sql.update({
        name,
        endpoint,
        model,
        system,
        paramsJson
      })} WHERE id = ${id} RETURNING 1`.pipe(
        Effect.mapBoth({
          onFailure: Table.named("PlaygroundPresetRepo.update"),
          onSuccess: (hits) => hits.length > 0
        })
      )
  )
  return PlaygroundPresetRepo.of({ list, countOf, get, insert, update, remove })
})

export const layer: Layer.Layer<PlaygroundPresetRepo, never, SqlClient.SqlClient> = Layer.effect(
  PlaygroundPresetRepo,
  make
)
