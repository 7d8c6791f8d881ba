/** Store of overrides of feature flags: the namespace `feature_flags` of the settings table. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"

export class FlagStore extends Context.Tag("gateway/subjects/flags/FlagStore")<
  FlagStore,
  {
    /** Flag key → overriding value. */
    readonly load: Effect.Effect<ReadonlyMap<string, string>>
    readonly save: (key: string, value: string) => Effect.Effect<void>
    readonly remove: (key: string) => Effect.Effect<void>
    readonly clear: Effect.Effect<void>
  }
>() {}

/** Overrides that live as long as the layer, starting with those given. */
export const layerMemory = (overrides: Readonly<Record<string, string>> = {}): Layer.Layer<FlagStore> =>
  Layer.sync(FlagStore, () => {
    const table = new Map(Object.entries(overrides))
    return FlagStore.of({
      load: Effect.sync(() => new Map(table)),
      save: (key, value) => Effect.sync(() => void table.set(key, value)),
      remove: (key) => Effect.sync(() => void table.delete(key)),
      clear: Effect.sync(() => table.clear())
    })
  })
