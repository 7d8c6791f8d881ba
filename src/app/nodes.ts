/** Takes over, in a gateway beside others on one database, changes of more than the tables that are held: limits of keys, and webhooks. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as SqlClient from "@effect/sql/SqlClient"
import * as OwnLimits from "../plane/ledger/KeyLimits.ts"
import { KeyLimits } from "../plane/ledger/KeyLimits.ts"
import * as NodeWatch from "../plane/workers/NodeWatch.ts"
import { isPostgres } from "../store/engine/Engine.ts"
import { Reservations } from "../store/usage/Reservations.ts"
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
    yield* register(["budgets", "token_limits"], (rows) =>
      Effect.forEach(rows === "all" ? keys.list().map(({ id }) => id) : rows, (id) => limits.limitsChanged(id), {
        discard: true
      })
    )
    yield* register(["users", "teams"], () => limits.ownersChanged)
    yield* register(["webhooks"], () => deliveries.refresh)
  })
)

/** The limits of keys: of this process alone, or by leases of what all gateways on a database of Postgres share, whose driver is loaded then. */
export const limitsOfProcess = Layer.unwrapEffect(
  Effect.flatMap(SqlClient.SqlClient, (sql) =>
    isPostgres(sql)
      ? Effect.map(
          Effect.promise(() => import("../plane/ledger/rows/NodeKeyLimits.ts")),
          ({ layer }) => layer
        )
      : Effect.succeed(
          Layer.effectContext(
            Effect.map(Effect.all([OwnLimits.KeyLimits, Reservations]), ([limits, file]) =>
              Context.make(KeyLimits, limits).pipe(Context.add(Reservations, file))
            )
          ).pipe(Layer.provide(OwnLimits.layer))
        )
  )
)

/** Beside the service, over everything below its faces. */
export const besideNodes = NodeWatch.layer.pipe(Layer.provideMerge(takenOver))
