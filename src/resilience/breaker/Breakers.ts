/** The circuit breakers of all providers: state in memory, kept in the store so that a restart does not forget an open one. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ProviderClass } from "../../domain/Provider.ts"
import * as BreakerRepo from "../../store/repo/BreakerRepo.ts"
import type { StoreError } from "../../store/Errors.ts"
import { makeKeeper } from "../Keeper.ts"
import * as Settings from "../Settings.ts"
import * as Breaker from "./Breaker.ts"

/** A provider as far as its breaker is concerned. */
export interface Guarded {
  readonly id: string
  readonly class: ProviderClass
}

/** Contract B3 `GET /api/resilience/breakers`, times in epoch milliseconds. */
export interface BreakerView {
  readonly provider: string
  readonly class: ProviderClass
  readonly state: Breaker.BreakerPhase
  readonly failures: number
  readonly openedAtMs: number | null
  readonly retryAfterMs: number | null
}

export interface BreakerChange {
  readonly before: Breaker.BreakerPhase
  readonly after: Breaker.BreakerPhase
  /** Failures that count, after the report. */
  readonly failures: number
}

export class Breakers extends Context.Tag("gateway/resilience/Breakers")<
  Breakers,
  {
    /** Hot: the phase as it is now. */
    readonly phaseOf: (provider: Guarded, nowMs: number) => Breaker.BreakerPhase
    /** Hot: milliseconds until a call may be tried; 0 now, null while another's probe is under way. */
    readonly waitMs: (provider: Guarded, nowMs: number) => number | null
    /** Hot: milliseconds until an open one lets its probe through where nobody else is left; 0 when it is not open. */
    readonly lastWayMs: (provider: Guarded, nowMs: number) => number
    /** Hot: asks for a call; a `probe` must be reported as such. `lastWay`: nobody else is left to ask. */
    readonly admit: (provider: Guarded, nowMs: number, lastWay?: boolean) => Breaker.Admission
    /** What became of a call. */
    readonly report: (provider: Guarded, nowMs: number, outcome: Breaker.BreakerReport, probe: boolean) => BreakerChange
    /** Every breaker that is not at rest. */
    readonly list: (nowMs: number, classOf: (provider: string) => ProviderClass) => ReadonlyArray<BreakerView>
    /** Closes one, or all; gives how many were not at rest. A provider that is gone is forgotten by it. */
    readonly reset: (provider: string | null) => Effect.Effect<number>
    readonly flush: Effect.Effect<void>
  }
>() {}

/** Breakers kept at most; beyond it the oldest goes. */
export const capacity = 10_000

export const make = Effect.gen(function* () {
  const repo = yield* BreakerRepo.BreakerRepo
  const settings = yield* Settings.Settings
  const states = new Map<string, Breaker.BreakerState>()
  for (const { failedProbes, failures, openedAtMs, phase, provider } of yield* repo.list) {
    states.set(provider, { phase, failures, openedAtMs, failedProbes, probeSinceMs: null })
  }

  const keeper = yield* makeKeeper("The breaker", (provider) => {
    const state = states.get(provider)
    if (state === undefined) return repo.remove(provider)
    const { failedProbes, failures, openedAtMs, phase } = state
    return repo.save({ provider, phase, failures, openedAtMs, failedProbes })
  })

  const profileOf = (providerClass: ProviderClass): Breaker.BreakerProfile =>
    Breaker.profileOf(settings.current().providerBreaker, providerClass)
  const stateOf = (id: string): Breaker.BreakerState => states.get(id) ?? Breaker.closed

  const dropOldest = (): void => {
    const [oldest] = states.keys()
    if (oldest === undefined) return
    states.delete(oldest)
    keeper.touch(oldest)
  }

  const put = (id: string, before: Breaker.BreakerState, after: Breaker.BreakerState): void => {
    if (after === before) return
    if (after.phase === "CLOSED" && after.failures === 0) states.delete(id)
    else {
      states.set(id, after)
      if (states.size > capacity) dropOldest()
    }
    // A running probe ends with the process: it is not worth a write.
    if (after.phase !== before.phase || after.failures !== before.failures || after.openedAtMs !== before.openedAtMs) {
      keeper.touch(id)
    }
  }

  /** The state as it is now. It is kept: time that a set-back clock makes run again must not begin anew at every look. */
  const settled = (id: string, profile: Breaker.BreakerProfile, nowMs: number): Breaker.BreakerState | null => {
    const before = states.get(id)
    if (before === undefined) return null
    const now = Breaker.settle(before, profile, nowMs)
    put(id, before, now)
    return now
  }

  const admit = ({ class: providerClass, id }: Guarded, nowMs: number, lastWay = false): Breaker.Admission => {
    const before = states.get(id)
    if (before === undefined) return "allowed"
    const { admission, state } = Breaker.admit(before, profileOf(providerClass), nowMs, lastWay)
    put(id, before, state)
    return admission
  }

  const report = (
    { class: providerClass, id }: Guarded,
    nowMs: number,
    outcome: Breaker.BreakerReport,
    probe: boolean
  ): BreakerChange => {
    const before = stateOf(id)
    const after = Breaker.report(before, profileOf(providerClass), nowMs, outcome, probe)
    put(id, before, after)
    return { before: before.phase, after: after.phase, failures: after.failures }
  }

  const waitMs = ({ class: providerClass, id }: Guarded, nowMs: number): number | null => {
    if (!states.has(id)) return 0
    const profile = profileOf(providerClass)
    const state = settled(id, profile, nowMs)
    return state === null ? 0 : Breaker.retryAfterMs(state, profile, nowMs)
  }

  const lastWayMs = ({ class: providerClass, id }: Guarded, nowMs: number): number => {
    if (!states.has(id)) return 0
    const profile = profileOf(providerClass)
    const state = settled(id, profile, nowMs)
    return state === null ? 0 : Breaker.lastWayMs(state, profile, nowMs)
  }

  const phaseOf = ({ class: providerClass, id }: Guarded, nowMs: number): Breaker.BreakerPhase => {
    if (!states.has(id)) return "CLOSED"
    return settled(id, profileOf(providerClass), nowMs)?.phase ?? "CLOSED"
  }

  const list = (nowMs: number, classOf: (provider: string) => ProviderClass): ReadonlyArray<BreakerView> =>
    Array.from(states, ([provider, state]) => {
      const providerClass = classOf(provider)
      const profile = profileOf(providerClass)
      const now = Breaker.settle(state, profile, nowMs)
      return {
        provider,
        class: providerClass,
        state: now.phase,
        failures: now.failures,
        openedAtMs: now.openedAtMs,
        retryAfterMs: now.phase === "OPEN" ? Breaker.retryAfterMs(now, profile, nowMs) : null
      }
    })

  const reset = Effect.fn("Breakers.reset")((provider: string | null) =>
    Effect.suspend(() => {
      const ids = provider === null ? [...states.keys()] : states.has(provider) ? [provider] : []
      for (const id of ids) {
        states.delete(id)
        keeper.touch(id)
      }
      return Effect.as(keeper.flush, ids.length)
    })
  )

  return Breakers.of({ phaseOf, waitMs, lastWayMs, admit, report, list, reset, flush: keeper.flush })
})

export const layer: Layer.Layer<Breakers, StoreError, BreakerRepo.BreakerRepo | Settings.Settings> = Layer.scoped(
  Breakers,
  make
)
