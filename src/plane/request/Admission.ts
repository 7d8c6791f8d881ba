/** Hot: lets requests of keys with limits in, and ends what they hold. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Commitment } from "../ledger/Commitment.ts"
import { type Admitted, KeyLimits } from "../ledger/KeyLimits.ts"
import type { Later } from "../../kernel/Later.ts"
import { Reservations } from "../../store/usage/Reservations.ts"
import { countsWhole, type Exchange } from "./Exchange.ts"

type Asking = Pick<Exchange, "job" | "madeFor" | "principal" | "receivedMs" | "requestId">

export class Admission extends Context.Tag("gateway/plane/request/Admission")<
  Admission,
  {
    /** Null for callers without limits. What was counted before (`MadeFor`) counts for budgets and tokens only. */
    readonly admit: (asking: Asking, sessionId: string | null) => Admitted | Later<Admitted>
    /** The request is over, and its usage row is on file by the end of this turn. */
    readonly leave: (commitment: Commitment) => void
  }
>() {}

export const make = Effect.gen(function* () {
  const limits = yield* KeyLimits
  const file = yield* Reservations
  return Admission.of({
    admit: (asking, sessionId) => {
      const { job, principal, receivedMs, requestId } = asking
      if (principal._tag !== "Key") return null
      return countsWhole(asking)
        ? limits.admit(principal.key, { requestId, receivedMs, sessionId, isCountedBefore: false })
        : limits.admit(principal.key, {
            requestId,
            receivedMs,
            sessionId: null,
            isCountedBefore: true,
            isPromised: (job?.accepted ?? null) !== null
          })
    },
    leave: (commitment) => {
      commitment.leave()
      if (commitment.filed !== null) file.close(commitment.filed)
    }
  })
})

export const layer: Layer.Layer<Admission, never, KeyLimits | Reservations> = Layer.effect(Admission, make)
