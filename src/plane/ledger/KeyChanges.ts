/** Updates limits when an API key is changed or removed. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreError } from "../../store/Errors.ts"
import { LimitRepo } from "../../subjects/limits/repo.ts"
import { KeyLimits } from "./KeyLimits.ts"

export class KeyChanges extends Context.Tag("gateway/plane/ledger/KeyChanges")<
  KeyChanges,
  {
    readonly changed: (apiKeyId: string) => Effect.Effect<void, StoreError>
    /** Removes the key's budget and token limits with it. */
    readonly removed: (apiKeyId: string) => Effect.Effect<void, StoreError>
    /** People or teams were changed. */
    readonly ownersChanged: Effect.Effect<void, StoreError>
  }
>() {}

export const layer: Layer.Layer<KeyChanges, never, KeyLimits> = Layer.effect(
  KeyChanges,
  Effect.map(KeyLimits, ({ forgetKey, keyChanged, ownersChanged }) =>
    KeyChanges.of({ changed: keyChanged, removed: forgetKey, ownersChanged })
  )
)

/** Layer for commands that work on the data folder while no gateway runs. */
export const layerLocal: Layer.Layer<KeyChanges, never, LimitRepo> = Layer.effect(
  KeyChanges,
  Effect.map(LimitRepo, ({ removeKey }) =>
    KeyChanges.of({ changed: () => Effect.void, removed: removeKey, ownersChanged: Effect.void })
  )
)
