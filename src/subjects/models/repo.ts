/** Operator's declarations about models (`/api/provider-models`); they take precedence over learned facts. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Flag, Json, MaybeText, MaybeWhole, Text } from "../../store/engine/Columns.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import * as RememberedRows from "../../store/engine/RememberedRows.ts"
import * as Table from "../../store/engine/Table.ts"

const Capability = Schema.optionalWith(Schema.Boolean, { exact: true })

const Row = Schema.Struct({
  /** Provider id or node prefix. */
  provider: Text,
  modelId: Text,
  name: MaybeText,
  /** Tokens. */
  contextLength: MaybeWhole,
  maxOutputTokens: MaybeWhole,
  /** An absent capability is not declared. */
  capabilities: Json(
    Schema.Struct({
      vision: Capability,
      reasoning: Capability,
      toolCalling: Capability,
      structuredOutput: Capability,
      noThinkingAlias: Capability
    })
  ),
  hidden: Flag
})

/** A model as the operator declared it. `provider` and `modelId` together are its key. */
export type DeclaredModel = typeof Row.Type

export class ProviderModelRepo extends Context.Tag("gateway/subjects/models/ProviderModelRepo")<
  ProviderModelRepo,
  {
    /** Lists by provider, then model. */
    readonly list: Effect.Effect<ReadonlyArray<DeclaredModel>, StoreError>
    readonly get: (provider: string, modelId: string) => Effect.Effect<DeclaredModel | null, StoreError>
    readonly insert: (model: DeclaredModel) => Effect.Effect<void, StoreError | AlreadyStored>
    /** Replaces the record; false when the model is not declared. */
    readonly update: (model: DeclaredModel) => Effect.Effect<boolean, StoreError | AlreadyStored>
    readonly remove: (provider: string, modelId: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "provider_models", Row)
  const keyIs = (provider: string, modelId: string) => sql`provider = ${provider} AND model_id = ${modelId}`

  const get = Effect.fn("ProviderModelRepo.get")((provider: string, modelId: string) =>
    table.first("ProviderModelRepo.get", sql`WHERE ${keyIs(provider, modelId)}`)
  )
  const keyOf = ({ modelId, provider }: Pick<DeclaredModel, "modelId" | "provider">): string =>
    `${provider}\n${modelId}`
  const rows = RememberedRows.make({
    keyOf: (model: DeclaredModel) => keyOf(model),
    all: table.select("ProviderModelRepo.list", sql`ORDER BY provider, model_id`),
    one: (key) => {
      const end = key.indexOf("\n")
      return get(key.slice(0, end), key.slice(end + 1))
    },
    order: (a, b) => (keyOf(a) < keyOf(b) ? -1 : 1),
    watched: { table: "provider_models", isKeyed: false }
  })
  const list = Effect.withSpan(rows.list, "ProviderModelRepo.list")

  const insert = Effect.fn("ProviderModelRepo.insert")((model: DeclaredModel) =>
    rows.writing(keyOf(model))(table.insert("ProviderModelRepo.insert", model))
  )
  const update = Effect.fn("ProviderModelRepo.update")((model: DeclaredModel) =>
    rows.writing(keyOf(model))(table.update("ProviderModelRepo.update", keyIs(model.provider, model.modelId), model))
  )
  const remove = Effect.fn("ProviderModelRepo.remove")((provider: string, modelId: string) =>
    rows.writing(keyOf({ provider, modelId }))(table.remove("ProviderModelRepo.remove", keyIs(provider, modelId)))
  )
  return ProviderModelRepo.of({ list, get, insert, update, remove })
})

export const layer: Layer.Layer<ProviderModelRepo, never, SqlClient.SqlClient> = Layer.effect(ProviderModelRepo, make)
