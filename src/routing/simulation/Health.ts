/**
 * Breakers, cooldowns, lockouts and holds of a simulation: the transition functions and the failure policy of the house, on a virtual
 * clock, put together as `TargetHealth` does it with what is stored.
 */
import { healthy } from "../../domain/Connection.ts"
import type { ProviderClass, ProviderSpec } from "../../domain/Provider.ts"
import type { ResilienceSettings } from "../../domain/Resilience.ts"
import * as Breaker from "../../resilience/breaker/Breaker.ts"
import * as Cooldown from "../../resilience/cooldown/Cooldown.ts"
import { isPassing } from "../../resilience/cooldown/Passing.ts"
import * as Rests from "../../resilience/cooldown/Rests.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import { locksModel, modelHoldOf, penaltyOf } from "../../resilience/failure/Policy.ts"
import { makeSuspicions, partsOf } from "../../resilience/failure/Suspicions.ts"
import * as Lockout from "../../resilience/lockout/Lockout.ts"
import { keyOf } from "../engine/Snapshot.ts"
import { guardedOf } from "../AccountClass.ts"
import type { Target } from "../ModelResolver.ts"
import { breakerReportOf, type Call, classOf, type Unready } from "../TargetHealth.ts"
import { probeInMs, retryAtMs } from "../walk/LastWay.ts"

const fresh: Cooldown.CooldownState = { ...healthy, failedAtMs: null, resetAtMs: null, doubtedUntilMs: null }

/** What an ended call changed, for whoever counts it. */
export interface Change {
  readonly cooled: boolean
  readonly opened: boolean
}

export interface Health {
  readonly unready: (target: Target, nowMs: number) => Unready | null
  readonly phaseOf: (spec: Pick<ProviderSpec, "class" | "id">, nowMs: number) => Breaker.BreakerPhase
  readonly admit: (target: Target, nowMs: number, lastWay?: boolean) => Breaker.Admission
  readonly ended: (call: Call, failure: Failure | null) => Change
}

type HealthSettings = Pick<ResilienceSettings, "providerBreaker" | "connectionCooldown" | "modelLockout">

/** `targets` are all there are: a failure of scope `provider` concerns those of the same one. */
export const makeHealth = (settings: HealthSettings, targets: ReadonlyArray<Target>): Health => {
  const breakers = new Map<string, Breaker.BreakerState>()
  const cooldowns = new Map<string, Cooldown.CooldownState>()
  const rests = new Map<string, Rests.Rests>()
  /** Models held until their own quota opens again, and models that are locked out. */
  const holds = new Map<string, number>()
  const lockouts = new Map<string, Lockout.LockoutState>()
  const suspicions = makeSuspicions()
  const { modelLockout } = settings

  const profileOf = (providerClass: ProviderClass): Breaker.BreakerProfile =>
    Breaker.profileOf(settings.providerBreaker, providerClass)

  const breakerOf = (spec: Pick<ProviderSpec, "class" | "id">, nowMs: number): Breaker.BreakerState => {
    const before = breakers.get(spec.id)
    if (before === undefined) return Breaker.closed
    const now = Breaker.settle(before, profileOf(spec.class), nowMs)
    breakers.set(spec.id, now)
    return now
  }

  const cooling = ({ lastErrorType, testStatus }: Cooldown.CooldownState, untilMs: number | null): Unready => ({
    rule: untilMs === null ? "terminal" : "cooldown",
    untilMs,
    terminal: Cooldown.isTerminal(testStatus) ? testStatus : null,
    kind: lastErrorType,
    detail: untilMs === null ? testStatus : "cooling down",
    status: 503,
    code: untilMs === null ? "ALL_ACCOUNTS_INACTIVE" : "connection_cooldown"
  })

  const cooldownProfileOf = ({ account: { connection, spec } }: Target) =>
    settings.connectionCooldown[classOf(connection, spec.class) === "oauth" ? "oauth" : "apikey"]

  const restsOf = (id: string): Rests.Rests => rests.get(id) ?? Rests.none

  const lastOfAll = (target: Target, cooldown: Cooldown.CooldownState, restMs: number, nowMs: number) => {
    const rest = restMs === 0 ? undefined : restsOf(target.account.connection.id).get(target.model)?.state
    const waitMs = rest === undefined ? Cooldown.doubtMs(cooldown, nowMs) : restMs
    if (waitMs === 0) return null
    const againMs = retryAtMs(nowMs + waitMs, nowMs, cooldownProfileOf(target).baseCooldownMs)
    const lastWay = rest === undefined ? "doubt" : "rest"
    return { ...cooling(rest ?? cooldown, nowMs + waitMs), lastWay, retryAtMs: againMs } as const
  }

  const unready = (target: Target, nowMs: number): Unready | null => {
    const { connection } = target.account
    const cooldown = cooldowns.get(connection.id) ?? fresh
    const coolMs = Cooldown.waitMs(cooldown, nowMs)
    if (coolMs === null) return cooling(cooldown, null)
    const guarded = guardedOf(target.account)
    const profile = profileOf(guarded.class)
    const breaker = breakerOf(guarded, nowMs)
    const breakerMs = Breaker.retryAfterMs(breaker, profile, nowMs)
    const key = keyOf(target)
    const lockedUntilMs = modelLockout.enabled ? (lockouts.get(key)?.untilMs ?? 0) : 0
    const lockMs = Math.max(0, Math.max(holds.get(key) ?? 0, lockedUntilMs) - nowMs)
    const restMs = Rests.waitMs(restsOf(connection.id), target.model, nowMs)
    const longestMs = Math.max(coolMs, breakerMs ?? 0, lockMs)
    if (coolMs > 0 && coolMs === longestMs) return cooling(cooldown, nowMs + coolMs)
    const left = { terminal: null, kind: null }
    if (breakerMs !== 0 && (breakerMs ?? 0) === longestMs) {
      const untilMs = breakerMs === null ? null : nowMs + breakerMs
      const lastWayMs = Breaker.lastWayMs(breaker, profile, nowMs)
      const isUnblamed = Rests.onlyOthers(restsOf(connection.id), target.model)
      const probeMs = Math.max(coolMs, lockMs, probeInMs({ breakerMs, lastWayMs, isUnblamed }))
      const way = probeMs === 0 ? { lastWay: "probe" as const } : {}
      const detail = "the circuit breaker is open"
      const words = { rule: "breaker", detail, status: 503, code: "provider_circuit_open" } as const
      return { ...left, ...words, untilMs, ...way, retryAtMs: nowMs + Math.max(1, probeMs) }
    }
    if (lockMs > 0) {
      const detail = "the model is locked"
      return { ...left, rule: "lockout", untilMs: nowMs + lockMs, detail, status: 429, code: "model_cooldown" }
    }
    return lastOfAll(target, cooldown, restMs, nowMs)
  }

  const admit = ({ account }: Target, nowMs: number, lastWay = false): Breaker.Admission => {
    const guarded = guardedOf(account)
    const { admission, state } = Breaker.admit(breakerOf(guarded, nowMs), profileOf(guarded.class), nowMs, lastWay)
    breakers.set(guarded.id, state)
    return admission
  }

  const cool = (target: Target, { endedMs, startedMs, target: asked }: Call, failure: Failure): boolean => {
    const { id } = target.account.connection
    const profile = cooldownProfileOf(target)
    const penalty = penaltyOf(failure, profile.useUpstreamRetryHints, endedMs)
    if (penalty === null) return false
    const before = cooldowns.get(id) ?? fresh
    const { kind: type, message, status } = failure
    const told = { penalty, startedMs, message, type, code: String(status) }
    if (penalty._tag === "Backoff" && isPassing(failure)) {
      if (Cooldown.isTerminal(before.testStatus)) return false
      const after = Rests.fail(restsOf(id), asked.model, profile, endedMs, told, fresh)
      if (after === restsOf(id)) return false
      rests.set(id, after)
      return true
    }
    const after = Cooldown.fail(before, profile, endedMs, told)
    cooldowns.set(id, after)
    return (
      after.rateLimitedUntilMs !== before.rateLimitedUntilMs ||
      after.doubtedUntilMs !== before.doubtedUntilMs ||
      after.testStatus !== before.testStatus
    )
  }

  const lock = ({ endedMs, target }: Call, failure: Failure): void => {
    const key = keyOf(target)
    const holdMs = modelHoldOf(failure, endedMs)
    if (holdMs !== null) holds.set(key, Math.max(holds.get(key) ?? 0, endedMs + holdMs))
    const { kind, status, untilMs } = failure
    if (!modelLockout.enabled || !locksModel(failure) || !modelLockout.errorCodes.includes(status)) return
    const hintMs = untilMs === null ? null : untilMs - endedMs
    lockouts.set(key, Lockout.fail(lockouts.get(key) ?? null, modelLockout, endedMs, kind, hintMs))
  }

  const succeeded = ({ startedMs, target }: Call): void => {
    const { id } = target.account.connection
    const cooldown = cooldowns.get(id)
    suspicions.clear(id)
    if (cooldown !== undefined) cooldowns.set(id, Cooldown.succeed(cooldown, startedMs))
    const resting = rests.get(id)
    if (resting !== undefined) rests.set(id, Rests.succeed(resting, target.model, startedMs))
    const locked = lockouts.get(keyOf(target))
    if (locked === undefined) return
    const after = Lockout.succeed(locked)
    if (after === null) lockouts.delete(keyOf(target))
    else lockouts.set(keyOf(target), after)
  }

  const failed = (call: Call, failure: Failure): boolean => {
    const { connection, spec } = call.target.account
    lock(call, failure)
    if (failure.scope !== "provider") return cool(call.target, call, failure)
    let cooled = false
    const accounts = new Map(
      targets.filter(({ account }) => account.spec.id === spec.id).map((each) => [each.account.connection.id, each])
    )
    for (const [id, each] of accounts) if (cool(each, call, failure) && id === connection.id) cooled = true
    return cooled
  }

  const ended = (call: Call, failure: Failure | null): Change => {
    const { endedMs, probe, target } = call
    const guarded = guardedOf(target.account)
    const before = breakerOf(guarded, endedMs)
    const parts = failure === null ? [] : partsOf(suspicions.weigh(target.account.connection.id, target.model, failure))
    const [certain] = parts
    const report = certain === undefined ? "success" : breakerReportOf(certain)
    const after = Breaker.report(before, profileOf(guarded.class), endedMs, report, probe)
    breakers.set(guarded.id, after)
    const opened = after.phase === "OPEN" && before.phase !== "OPEN"
    if (failure === null) succeeded(call)
    let cooled = false
    for (const part of parts) if (failed(call, part)) cooled = true
    return { cooled, opened }
  }

  return { unready, phaseOf: (spec, nowMs) => breakerOf(spec, nowMs).phase, admit, ended }
}
