/** The circuit breakers of all providers: in memory for the request path, kept in the store so that a restart does not forget an open one. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as BreakerRepo from "../../../subjects/resilience/repo.ts"
import type { StoreError } from "../../../store/Errors.ts"
import { makeSignal } from "../../../kernel/collections/Signal.ts"
import { makeWriteBehind } from "../WriteBehind.ts"
import { Replica } from "../../state/Replica.ts"
import * as Settings from "../Settings.ts"
import { type BreakerStates, type BreakerView, makeBreakerStates } from "./BreakerStates.ts"

export type { BreakerChange, BreakerView, Guarded } from "./BreakerStates.ts"
export { capacity } from "./BreakerStates.ts"

/** A breaker as it is from now on. */
export interface BreakerNow {
  readonly provider: string
  readonly state: BreakerView["state"]
  readonly failures: number
}

export class Breakers extends Context.Tag("gateway/plane/resilience/breaker/Breakers")<
  Breakers,
  Omit<BreakerStates, "get" | "reset"> & {
    /** Closes one, or all; returns how many were not closed. The state of a removed provider is dropped by it. */
    readonly reset: (provider: string | null) => Effect.Effect<number>
    /** Calls `listener` with each provider whose breaker has changed, until the returned function is called. */
    readonly listen: (listener: (change: BreakerNow) => void) => () => void
    /** Waits until everything that was learned outlives a crash. */
    readonly flush: Effect.Effect<void>
  }
>() {}

export const make = Effect.gen(function* () {
  const repo = yield* BreakerRepo.BreakerRepo
  const settings = yield* Settings.Settings
  const stored = yield* repo.list

  const writeBehind = yield* makeWriteBehind("The breaker", (provider) => {
    const state = states.get(provider)
    if (state === undefined) return repo.remove(provider)
    const { failedProbes, failures, openedAtMs, phase } = state
    return repo.save({ provider, phase, failures, openedAtMs, failedProbes })
  })

  const signal = makeSignal<BreakerNow>()
  let isReady = false
  const changed = (provider: string): void => {
    writeBehind.touch(provider)
    if (!isReady) return
    const { failures = 0, phase = "CLOSED" } = states.get(provider) ?? {}
    signal.tell({ provider, state: phase, failures })
  }

  const states: BreakerStates = makeBreakerStates({
    profiles: () => settings.current().providerBreaker,
    initial: stored.map(({ failedProbes, failures, openedAtMs, phase, provider }) => [
      provider,
      { phase, failures, openedAtMs, failedProbes, probeSinceMs: null }
    ]),
    changed
  })
  isReady = true
  const { changes, isAtRest, lastResortMs, list, phaseOf, waitMs } = states
  const { shared } = yield* Replica
  const admit = shared("breaker.admit", states.admit, changes)
  const report = shared("breaker.report", states.report, changes)
  const close = shared("breaker.reset", states.reset)

  const reset = Effect.fn("Breakers.reset")((provider: string | null) =>
    Effect.suspend(() => Effect.as(writeBehind.flush, close(provider).length))
  )
  return Breakers.of({
    changes,
    isAtRest,
    phaseOf,
    waitMs,
    lastResortMs,
    admit,
    report,
    list,
    reset,
    listen: signal.listen,
    flush: writeBehind.flush
  })
})

export const layer: Layer.Layer<Breakers, StoreError, BreakerRepo.BreakerRepo | Settings.Settings> = Layer.scoped(
  Breakers,
  make
)
