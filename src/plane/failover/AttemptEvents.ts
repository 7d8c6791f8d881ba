/** Reports to plugins the calls that failed, once it is known whether another one follows. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Timers from "../../platform/Timers.ts"
import { Hooks } from "../../agents/plugins/hooks/Hooks.ts"
import * as Breakers from "../resilience/breaker/Breakers.ts"
import { guardedOf } from "../routing/health/AccountClass.ts"
import * as HookEvents from "../hooks/Events.ts"
import type { FailoverRun, Outcome } from "./FailoverRun.ts"

export class AttemptEvents extends Context.Tag("gateway/plane/failover/AttemptEvents")<
  AttemptEvents,
  {
    /** Hot: nothing where the call did not fail. `willRetry`: another call of the request follows, or runs beside it. */
    readonly failed: (run: FailoverRun, outcome: Outcome, willRetry: boolean) => void
  }
>() {}

export const make = Effect.gen(function* () {
  const breakers = yield* Breakers.Breakers
  const hooks = yield* Hooks
  const { nowMs } = yield* Timers.Timers
  return AttemptEvents.of({
    failed: ({ work }, { failure, turn: { target } }, willRetry) => {
      if (!hooks.listens.onProviderError || failure === null) return
      const circuitState = breakers.phaseOf(guardedOf(target.account), nowMs())
      HookEvents.attemptFailed(hooks, { work, target, failure, willRetry, circuitState })
    }
  })
})

export const layer: Layer.Layer<AttemptEvents, never, Breakers.Breakers | Hooks | Timers.Timers> = Layer.effect(
  AttemptEvents,
  make
)
