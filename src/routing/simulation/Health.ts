/**
 * Breakers and cooldowns of a simulation: the transition functions and the failure policy of the house, on a virtual clock. Model
 * lockouts, off by default, are left out.
 */
import { healthy } from "../../domain/Connection.ts"
import type { ProviderClass, ProviderSpec } from "../../domain/Provider.ts"
import type { ResilienceSettings } from "../../domain/Resilience.ts"
import * as Breaker from "../../resilience/breaker/Breaker.ts"
import * as Cooldown from "../../resilience/cooldown/Cooldown.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import { countsForBreaker, penaltyOf } from "../../resilience/failure/Policy.ts"
import type { Target } from "../ModelResolver.ts"
import { type Call, classOf, type Unready } from "../TargetHealth.ts"

const fresh: Cooldown.CooldownState = { ...healthy, failedAtMs: null, resetAtMs: null, doubtedUntilMs: null }

/** What an ended call changed, for whoever counts it. */
export interface Change {
  readonly cooled: boolean
  readonly opened: boolean
}

export interface Health {
  readonly unready: (target: Target, nowMs: number) => Unready | null
  readonly phaseOf: (spec: Pick<ProviderSpec, "class" | "id">, nowMs: number) => Breaker.BreakerPhase
  readonly admit: (target: Target, nowMs: number) => Breaker.Admission
  readonly ended: (call: Call, failure: Failure | null) => Change
}

export const makeHealth = (settings: Pick<ResilienceSettings, "providerBreaker" | "connectionCooldown">): Health => {
  const breakers = new Map<string, Breaker.BreakerState>()
  const cooldowns = new Map<string, Cooldown.CooldownState>()

  const profileOf = (providerClass: ProviderClass): Breaker.BreakerProfile =>
    Breaker.profileOf(settings.providerBreaker, providerClass)

  const breakerOf = (spec: Pick<ProviderSpec, "class" | "id">, nowMs: number): Breaker.BreakerState => {
    const before = breakers.get(spec.id)
    if (before === undefined) return Breaker.closed
    const now = Breaker.settle(before, profileOf(spec.class), nowMs)
    breakers.set(spec.id, now)
    return now
  }

  const unready = ({ account }: Target, nowMs: number): Unready | null => {
    const { connection, spec } = account
    const cooldown = cooldowns.get(connection.id)
    const coolMs = cooldown === undefined ? 0 : Cooldown.waitMs(cooldown, nowMs)
    const left = { terminal: null, kind: null, status: 503 }
    if (coolMs !== 0) {
      const untilMs = coolMs === null ? null : nowMs + coolMs
      return { ...left, rule: "cooldown", untilMs, detail: "cooling down", code: "connection_cooldown" }
    }
    const waitMs = Breaker.retryAfterMs(breakerOf(spec, nowMs), profileOf(spec.class), nowMs)
    if (waitMs === 0) return null
    const untilMs = waitMs === null ? null : nowMs + waitMs
    return { ...left, rule: "breaker", untilMs, detail: "the circuit breaker is open", code: "provider_circuit_open" }
  }

  const admit = ({ account: { spec } }: Target, nowMs: number): Breaker.Admission => {
    const { admission, state } = Breaker.admit(breakerOf(spec, nowMs), profileOf(spec.class), nowMs)
    breakers.set(spec.id, state)
    return admission
  }

  const ended = ({ endedMs, probe, startedMs, target }: Call, failure: Failure | null): Change => {
    const { connection, spec } = target.account
    const before = breakerOf(spec, endedMs)
    const outcome = failure === null ? "success" : countsForBreaker(failure) ? "trip" : "other"
    const after = Breaker.report(before, profileOf(spec.class), endedMs, outcome, probe)
    breakers.set(spec.id, after)
    const opened = after.phase === "OPEN" && before.phase !== "OPEN"
    const cooldown = cooldowns.get(connection.id) ?? fresh
    if (failure === null) {
      if (cooldown !== fresh) cooldowns.set(connection.id, Cooldown.succeed(cooldown, startedMs))
      return { cooled: false, opened }
    }
    const profile = settings.connectionCooldown[classOf(connection, spec.class) === "oauth" ? "oauth" : "apikey"]
    const penalty = penaltyOf(failure, profile.useUpstreamRetryHints, endedMs)
    if (penalty === null) return { cooled: false, opened }
    const cooled = Cooldown.fail(cooldown, profile, endedMs, {
      penalty,
      startedMs,
      message: failure.message,
      type: failure.kind,
      code: String(failure.status)
    })
    cooldowns.set(connection.id, cooled)
    return { cooled: cooled.rateLimitedUntilMs !== cooldown.rateLimitedUntilMs, opened }
  }

  return { unready, phaseOf: (spec, nowMs) => breakerOf(spec, nowMs).phase, admit, ended }
}
