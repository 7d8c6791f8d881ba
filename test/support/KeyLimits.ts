/** Limits of keys for tests of other things: real, over events without listeners, without files. */
import * as Layer from "effect/Layer"
import * as Events from "../../src/observe/Events.ts"
import * as KeyLimits from "../../src/plane/ledger/KeyLimits.ts"
import * as Reservations from "../../src/store/usage/Reservations.ts"

export const keyLimits = KeyLimits.layer.pipe(
  Layer.provide(Layer.mergeAll(Reservations.layerMemory, Events.layer)),
  Layer.orDie
)
