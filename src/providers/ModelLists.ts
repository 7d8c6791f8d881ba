/**
 * Model ids learned from upstream `/models` answers, per connection, kept for a while (contract B3 "cached").
 * Memory only: they are asked again when needed. Bounded in connections and in models per connection.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { ModelFacts } from "./ModelFacts.ts"

/** A model with what the upstream says of it. */
export interface ListedModel extends ModelFacts {
  readonly id: string
}

interface Entry {
  readonly models: ReadonlyArray<ListedModel>
  readonly byId: ReadonlyMap<string, ListedModel>
  readonly ids: ReadonlyArray<string>
  readonly learnedAtMs: number
}

export const capacity = 2_000
const modelsPerConnection = 5_000
const freshForMs = 10 * 60_000

export class ModelLists extends Context.Tag("gateway/providers/ModelLists")<
  ModelLists,
  {
    /** Hot: ids learned earlier, however old; empty when never asked. */
    readonly known: (connectionId: string) => ReadonlyArray<string>
    /** Hot: what was learned of one model; null when it was not listed. */
    readonly find: (connectionId: string, modelId: string) => ListedModel | null
    /** The list when it is younger than `freshForMs`, else null. */
    readonly fresh: (connectionId: string, nowMs: number) => ReadonlyArray<ListedModel> | null
    readonly learn: (connectionId: string, models: ReadonlyArray<ListedModel>, nowMs: number) => void
    readonly forget: (connectionId: string) => void
    /** Rises with every change, so that lists made from this one know when they are old. */
    readonly revision: () => number
  }
>() {}

const none: ReadonlyArray<never> = []

export const make = () => {
  const entries = new Map<string, Entry>()
  let revision = 0
  return ModelLists.of({
    known: (connectionId) => entries.get(connectionId)?.ids ?? none,
    find: (connectionId, modelId) => entries.get(connectionId)?.byId.get(modelId) ?? null,
    fresh: (connectionId, nowMs) => {
      const entry = entries.get(connectionId)
      return entry !== undefined && nowMs - entry.learnedAtMs < freshForMs ? entry.models : null
    },
    learn: (connectionId, models, nowMs) => {
      entries.delete(connectionId)
      if (entries.size >= capacity) {
        const oldest = entries.keys().next()
        if (!oldest.done) entries.delete(oldest.value)
      }
      const kept = models.slice(0, modelsPerConnection)
      entries.set(connectionId, {
        models: kept,
        byId: new Map(kept.map((model) => [model.id, model])),
        ids: kept.map((model) => model.id),
        learnedAtMs: nowMs
      })
      revision += 1
    },
    forget: (connectionId) => {
      if (entries.delete(connectionId)) revision += 1
    },
    revision: () => revision
  })
}

export const layer: Layer.Layer<ModelLists> = Layer.sync(ModelLists, make)
