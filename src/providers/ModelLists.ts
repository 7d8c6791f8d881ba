/**
 * Model ids learned from upstream `/models` answers, per connection, kept for a while (contract B3 "cached").
 * Memory only: they are asked again when needed. Bounded in connections and in models per connection.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

export interface ListedModel {
  readonly id: string
  readonly name: string | null
  /** Tokens the model can take in, when the upstream says so. */
  readonly contextLength: number | null
  readonly maxOutputTokens: number | null
}

interface Entry {
  readonly models: ReadonlyArray<ListedModel>
  readonly ids: ReadonlyArray<string>
  readonly learnedAtMs: number
}

export const capacity = 2_000
export const modelsPerConnection = 5_000
export const freshForMs = 10 * 60_000

export class ModelLists extends Context.Tag("gateway/providers/ModelLists")<
  ModelLists,
  {
    /** Hot: ids learned earlier, however old; empty when never asked. */
    readonly known: (connectionId: string) => ReadonlyArray<string>
    readonly details: (connectionId: string) => ReadonlyArray<ListedModel>
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
    details: (connectionId) => entries.get(connectionId)?.models ?? none,
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
      entries.set(connectionId, { models: kept, ids: kept.map((model) => model.id), learnedAtMs: nowMs })
      revision += 1
    },
    forget: (connectionId) => {
      if (entries.delete(connectionId)) revision += 1
    },
    revision: () => revision
  })
}

export const layer: Layer.Layer<ModelLists> = Layer.sync(ModelLists, make)
