/**
 * Changes of the configuration, one after the other, so that a rule checked against the stored state still holds when the change is
 * written. The request path sees a change before its caller is answered.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../kernel/Lane.ts"
import * as Catalog from "../plane/providers/Catalog.ts"
import type { StoreError } from "../store/Errors.ts"

export class ConfigChanges extends Context.Tag("gateway/subjects/ConfigChanges")<
  ConfigChanges,
  {
    /** Runs a change alone and uninterrupted, then rebuilds the catalogue. A change that fails must have written nothing. */
    readonly apply: <A, E, R>(change: Effect.Effect<A, E, R>) => Effect.Effect<A, E | StoreError, R>
  }
>() {}

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog.Catalog
  const oneAtATime = makeLane(1)
  return ConfigChanges.of({
    apply: (change) => oneAtATime.inTurn(Effect.uninterruptible(Effect.zipLeft(change, catalog.refresh)))
  })
})

export const layer: Layer.Layer<ConfigChanges, never, Catalog.Catalog> = Layer.effect(ConfigChanges, make)
