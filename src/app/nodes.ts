/** What a gateway beside others on one database takes over besides the tables that are held: limits of keys, and webhooks. */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { KeyLimits } from "../plane/ledger/KeyLimits.ts"
import * as NodeWatch from "../plane/workers/NodeWatch.ts"
import { Snapshots } from "../store/Snapshots.ts"
import { ApiKeys } from "../subjects/auth/ApiKeys.ts"
import { Deliveries } from "../subjects/webhooks/Deliveries.ts"

const takenOver = Layer.effectDiscard(
  Effect.gen(function* () {
    const { register } = yield* Snapshots
    const limits = yield* KeyLimits
    const keys = yield* ApiKeys
    const deliveries = yield* Deliveries
    yield* register(["api_keys"], (rows) =>
      Effect.forEach(rows === "all" ? keys.list().map(({ id }) => id) : rows, (id) => limits.keyChanged(id), {
        discard: true
      })
    )
    yield* register(["users", "teams"], () => limits.ownersChanged)
    yield* register(["webhooks"], () => deliveries.refresh)
  })
)

/** Beside the service, over everything below its faces. */
export const besideNodes = NodeWatch.layer.pipe(Layer.provideMerge(takenOver))
