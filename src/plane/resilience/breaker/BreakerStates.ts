/** The circuit breakers of all providers, in memory: the transitions of `Breaker` by provider. Times are epoch milliseconds. */
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { ProviderClass } from "../../../contract/domain/Provider.ts"
import type { ResilienceSettings } from "../../../subjects/resilience/entity.ts"
import * as Breaker from "./Breaker.ts"

/** A provider as far as its breaker is concerned. */
export interface Guarded {
  readonly id: string
  readonly class: ProviderClass
}

/** A breaker as `GET /api/resilience/breakers` shows it. */
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

export interface BreakerStates {
  /** Hot: counts the changes of any breaker. */
  readonly changes: () => number
  /** Hot: closed, without a failure. */
  readonly isAtRest: (provider: string) => boolean
  /** Hot: the phase as it is now. */
  readonly phaseOf: (provider: Guarded, nowMs: number) => Breaker.BreakerPhase
  /** Hot: milliseconds until a call may be tried; 0 now, null while another's probe is in progress. */
  readonly waitMs: (provider: Guarded, nowMs: number) => number | null
  /** Hot: milliseconds until an open one lets its probe through where no other target is left; 0 when it is not open. */
  readonly lastResortMs: (provider: Guarded, nowMs: number) => number
  /** Hot: asks for a call; a `probe` must be reported as such. `lastResort`: no other target is left to ask. */
  readonly admit: (provider: Guarded, nowMs: number, lastResort?: boolean) => Breaker.Admission
  /** Updates the state after a call. */
  readonly report: (provider: Guarded, nowMs: number, outcome: Breaker.BreakerReport, probe: boolean) => BreakerChange
  /** Every breaker that is not at rest. */
  readonly list: (nowMs: number, classOf: (provider: string) => ProviderClass) => ReadonlyArray<BreakerView>
  /** Closes one, or all; gives those that were not at rest. */
  readonly reset: (provider: string | null) => ReadonlyArray<string>
  /** Undefined when it is at rest. */
  readonly get: (provider: string) => Breaker.BreakerState | undefined
}

export interface BreakerStatesOptions {
  readonly profiles: () => ResilienceSettings["providerBreaker"]
  readonly initial: Iterable<readonly [provider: string, state: Breaker.BreakerState]>
  /** Called with each change that should outlive the process. */
  readonly changed: (provider: string) => void
}

/** Breakers kept at most; beyond it the oldest goes. */
export const capacity = 10_000

export const makeBreakerStates = ({ changed, initial, profiles }: BreakerStatesOptions): BreakerStates => {
  let changes = 0
  const states = new LruMap<string, Breaker.BreakerState>({
    capacity,
    onRemove: (id) => {
      changes += 1
      changed(id)
    }
  })
  for (const [id, state] of initial) states.set(id, state)

  const profileOf = (providerClass: ProviderClass): Breaker.BreakerProfile =>
    Breaker.profileOf(profiles(), providerClass)

  const put = (id: string, before: Breaker.BreakerState, after: Breaker.BreakerState): void => {
    if (after === before) return
    changes += 1
    if (after.phase === "CLOSED" && after.failures === 0) states.delete(id)
    else states.set(id, after)
    // A running probe ends with the process: it is not worth a write.
    if (after.phase !== before.phase || after.failures !== before.failures || after.openedAtMs !== before.openedAtMs) {
      changed(id)
    }
  }

  /** The state as it is now. It is kept: time that a set-back clock makes run again must not begin anew at every look. */
  const settled = (
    { class: providerClass, id }: Guarded,
    nowMs: number
  ): { readonly state: Breaker.BreakerState; readonly profile: Breaker.BreakerProfile } | null => {
    const before = states.peek(id)
    if (before === undefined) return null
    const profile = profileOf(providerClass)
    const state = Breaker.settle(before, profile, nowMs)
    put(id, before, state)
    return { state, profile }
  }

  return {
    get: (id) => states.peek(id),
    changes: () => changes,
    isAtRest: (id) => states.peek(id) === undefined,
    phaseOf: (provider, nowMs) => settled(provider, nowMs)?.state.phase ?? "CLOSED",
    waitMs: (provider, nowMs) => {
      const now = settled(provider, nowMs)
      return now === null ? 0 : Breaker.retryAfterMs(now.state, now.profile, nowMs)
    },
    lastResortMs: (provider, nowMs) => {
      const now = settled(provider, nowMs)
      return now === null ? 0 : Breaker.lastResortMs(now.state, now.profile, nowMs)
    },
    admit: ({ class: providerClass, id }, nowMs, lastResort = false) => {
      const before = states.peek(id)
      if (before === undefined) return "allowed"
      const { admission, state } = Breaker.admit(before, profileOf(providerClass), nowMs, lastResort)
      put(id, before, state)
      return admission
    },
    report: ({ class: providerClass, id }, nowMs, outcome, probe) => {
      const before = states.peek(id) ?? Breaker.closed
      const after = Breaker.report(before, profileOf(providerClass), nowMs, outcome, probe)
      put(id, before, after)
      return { before: before.phase, after: after.phase, failures: after.failures }
    },
    list: (nowMs, classOf) =>
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
      }),
    reset: (provider) => {
      const ids = Array.from(states, ([id]) => id).filter((id) => provider === null || id === provider)
      for (const id of ids) states.delete(id)
      return ids
    }
  }
}
