/**
 * Whether a target may be called now, and what a call taught about it: breaker of the provider, cooldown of the connection,
 * lockout of the model, in one place for all who choose and all who call.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createHash } from "node:crypto"
import type { Connection, ConnectionHealth } from "../domain/Connection.ts"
import type { ProviderClass } from "../domain/Provider.ts"
import * as Events from "../events/Events.ts"
import * as Catalog from "../providers/Catalog.ts"
import type { Account } from "../providers/Catalog.ts"
import type { Admission, BreakerReport } from "../resilience/breaker/Breaker.ts"
import * as Breakers from "../resilience/breaker/Breakers.ts"
import { isTerminal, type TerminalStatus } from "../resilience/cooldown/Cooldown.ts"
import * as Cooldowns from "../resilience/cooldown/Cooldowns.ts"
import { isPassing } from "../resilience/cooldown/Passing.ts"
import type { Failure } from "../resilience/failure/FailureKind.ts"
import { countsForBreaker, locksModel, modelHoldOf, penaltyOf, policyOf } from "../resilience/failure/Policy.ts"
import { makeSuspicions, partsOf } from "../resilience/failure/Suspicions.ts"
import type { LockoutKey } from "../resilience/lockout/LockoutKey.ts"
import * as Lockouts from "../resilience/lockout/Lockouts.ts"
import * as Settings from "../resilience/Settings.ts"
import { guardedOf } from "./AccountClass.ts"
import type { Target } from "./ModelResolver.ts"
import { type BreakerWait, type LastWay, probeInMs, retryAtMs } from "./walk/LastWay.ts"

/** Why a target is left out. */
export interface Unready {
  readonly rule: "breaker" | "cooldown" | "terminal" | "lockout"
  /** Epoch milliseconds; null when it does not end by itself, or nobody knows when. */
  readonly untilMs: number | null
  /** The state that only an operator can end. */
  readonly terminal: TerminalStatus | null
  /** The kind of failure behind it, where there was one. */
  readonly kind: string | null
  /** For people. */
  readonly detail: string
  /** What a client is told when nothing else is left. */
  readonly status: number
  readonly code: string
  /** It may be asked all the same when nobody else is left. */
  readonly lastWay?: LastWay
  /** Epoch milliseconds from which a client may try again, where that is not `untilMs`. */
  readonly retryAtMs?: number
}

/** A finished call. Times are epoch milliseconds. */
export interface Call {
  readonly target: Target
  readonly startedMs: number
  readonly endedMs: number
  /** It was the probe of a half-open breaker. */
  readonly probe: boolean
}

export class TargetHealth extends Context.Tag("gateway/routing/TargetHealth")<
  TargetHealth,
  {
    /** Hot: null when the target may be called. */
    readonly unready: (target: Target, nowMs: number) => Unready | null
    /**
     * Hot: asks the provider's breaker for one call; every admitted call is reported with one of the next three. `lastWay`: nobody
     * else is left to ask, and the target was found to wait for a `probe`.
     */
    readonly admit: (target: Target, nowMs: number, lastWay?: boolean) => Admission
    readonly succeeded: (call: Call) => void
    readonly failed: (call: Call, failure: Failure) => void
    /** Nothing was learned: the client left, or the call was not made. */
    readonly abandoned: (call: Call) => void
    /** Done when what was learned outlives a crash. */
    readonly flush: Effect.Effect<void>
  }
>() {}

/** The class whose rules hold for an account: its own way of signing in, or the provider's. */
export const classOf = ({ authType }: Pick<Connection, "authType">, providerClass: ProviderClass): ProviderClass =>
  authType === "oauth" ? "oauth" : providerClass === "oauth" && authType === "apikey" ? "apikey" : providerClass

const seconds = (ms: number): string => {
  const whole = Math.ceil(ms / 1000)
  if (whole < 60) return `${whole}s`
  const minutes = Math.floor(whole / 60)
  return minutes < 60 ? `${minutes}m ${whole % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}

/** The request's own fault, or nobody's: it says nothing about the provider. */
const isBlameless = (failure: Failure): boolean => failure.scope === "none" && policyOf(failure).terminal === null

/** What a failed call tells the provider's breaker. */
export const breakerReportOf = (failure: Failure): BreakerReport =>
  countsForBreaker(failure) ? "trip" : isBlameless(failure) ? "unknown" : "other"

const isErrorStatus = (status: number): boolean => status >= 400 && status <= 599

export const make = Effect.gen(function* () {
  const breakers = yield* Breakers.Breakers
  const catalog = yield* Catalog.Catalog
  const cooldowns = yield* Cooldowns.Cooldowns
  const lockouts = yield* Lockouts.Lockouts
  const settings = yield* Settings.Settings
  const events = yield* Events.Events
  const suspicions = makeSuspicions()

  // A new key in the environment is a new account: what the old one did wrong is not its fault.
  for (const { apiKey, id, source } of catalog.current().connections) {
    if (source !== "env" || apiKey === null) continue
    const fingerprint = createHash("sha256").update(Redacted.value(apiKey)).digest("hex")
    if (cooldowns.credentialIs(id, fingerprint)) lockouts.clear({ connectionId: id })
  }

  const lockKey = ({ account, model }: Target): LockoutKey => ({
    provider: account.spec.id,
    connectionId: account.connection.id,
    model
  })

  const cooling = (
    { account }: Target,
    waitMs: number | null,
    nowMs: number,
    health: ConnectionHealth = cooldowns.healthOf(account.connection.id)
  ): Unready => {
    const { errorCode, lastError, lastErrorType, testStatus } = health
    const name = `${account.spec.id} (${account.connection.name})`
    const why = lastError === null ? "" : `: ${lastError}`
    if (waitMs === null) {
      return {
        rule: "terminal",
        untilMs: null,
        terminal: isTerminal(testStatus) ? testStatus : null,
        kind: lastErrorType,
        detail: `${name} is ${testStatus.replace("_", " ")}${why}`,
        status: 503,
        code: "ALL_ACCOUNTS_INACTIVE"
      }
    }
    const status = Number(errorCode)
    return {
      rule: "cooldown",
      untilMs: nowMs + waitMs,
      terminal: null,
      kind: lastErrorType,
      detail: `${name} is cooling down${why} (reset after ${seconds(waitMs)})`,
      status: isErrorStatus(status) ? status : 503,
      code: status === 429 ? "rate_limit_exceeded" : "connection_cooldown"
    }
  }

  const profileOf = ({ connection, spec }: Account) =>
    settings.current().connectionCooldown[classOf(connection, spec.class) === "oauth" ? "oauth" : "apikey"]

  /** Others go first; the decision leaves it out while there are any, and the loop asks it when there are none. */
  const lastOfAll = (target: Target, nowMs: number, restMs: number): Unready | null => {
    const { account, model } = target
    const { id } = account.connection
    const rest = restMs === 0 ? null : cooldowns.restOf(id, model)
    const waitMs = rest === null ? cooldowns.doubtMs(id, nowMs) : restMs
    if (waitMs === 0) return null
    const unready = cooling(target, waitMs, nowMs, rest ?? undefined)
    return {
      ...unready,
      lastWay: rest === null ? "doubt" : "rest",
      retryAtMs: retryAtMs(nowMs + waitMs, nowMs, profileOf(account).baseCooldownMs)
    }
  }

  const broken = ({ account }: Target, wait: BreakerWait, firmMs: number, nowMs: number): Unready => {
    const { breakerMs } = wait
    const probeMs = Math.max(firmMs, probeInMs(wait))
    const when = breakerMs === null ? "a probe is under way" : `tried again in ${seconds(breakerMs)}`
    return {
      rule: "breaker",
      untilMs: breakerMs === null ? null : nowMs + breakerMs,
      terminal: null,
      kind: null,
      detail: `The circuit breaker of ${account.spec.id} is open (${when})`,
      status: 503,
      code: "provider_circuit_open",
      ...(probeMs === 0 ? { lastWay: "probe" as const } : {}),
      retryAtMs: nowMs + Math.max(1, probeMs)
    }
  }

  /** Of several holds the one that is over last: who comes back before it comes in vain. */
  const unready = (target: Target, nowMs: number): Unready | null => {
    const { account, model } = target
    const coolMs = cooldowns.waitMs(account.connection.id, nowMs)
    if (coolMs === null) return cooling(target, coolMs, nowMs)
    const breakerMs = breakers.waitMs(guardedOf(account), nowMs)
    const lockMs = lockouts.waitMs(lockKey(target), nowMs)
    const restMs = cooldowns.restMs(account.connection.id, model, nowMs)
    const longestMs = Math.max(coolMs, breakerMs ?? 0, lockMs)
    if (coolMs > 0 && coolMs === longestMs) return cooling(target, coolMs, nowMs)
    if (breakerMs !== 0 && (breakerMs ?? 0) === longestMs) {
      const lastWayMs = breakers.lastWayMs(guardedOf(account), nowMs)
      const isUnblamed = cooldowns.onlyOthersFailed(account.connection.id, model)
      return broken(target, { breakerMs, lastWayMs, isUnblamed }, Math.max(coolMs, lockMs), nowMs)
    }
    if (lockMs === 0) return lastOfAll(target, nowMs, restMs)
    return {
      rule: "lockout",
      untilMs: nowMs + lockMs,
      terminal: null,
      kind: null,
      detail: `The model ${account.spec.id}/${model} is locked (reset after ${seconds(lockMs)})`,
      status: 429,
      code: "model_cooldown"
    }
  }

  const report = ({ endedMs, probe, target }: Call, outcome: BreakerReport, failure: Failure | null): void => {
    const { spec } = target.account
    const { after, before, failures } = breakers.report(guardedOf(target.account), endedMs, outcome, probe)
    if (outcome === "trip" && failure !== null) {
      const { reason, status } = failure
      const breaker = { consecutiveFailures: failures, circuitState: after }
      events.publish({ type: "provider.error", atMs: endedMs, provider: spec.id, status, reason, ...breaker })
    }
    if (before === "HALF_OPEN" && after === "CLOSED") {
      events.publish({ type: "provider.recovered", atMs: endedMs, provider: spec.id })
    }
  }

  const succeeded = (call: Call): void => {
    const { startedMs, target } = call
    report(call, "success", null)
    cooldowns.succeed(target.account.connection.id, startedMs, target.model)
    suspicions.clear(target.account.connection.id)
    lockouts.succeed(lockKey(target))
  }

  const cool = (account: Account, call: Call, failure: Failure): void => {
    const profile = profileOf(account)
    const penalty = penaltyOf(failure, profile.useUpstreamRetryHints, call.endedMs)
    if (penalty === null) return
    const { id } = account.connection
    const words = {
      startedMs: call.startedMs,
      message: failure.message.slice(0, 500),
      type: failure.kind,
      code: String(failure.status)
    }
    if (penalty._tag === "Backoff" && isPassing(failure)) {
      cooldowns.rest(id, call.target.model, profile, call.endedMs, words)
    } else cooldowns.fail(id, profile, call.endedMs, { ...words, penalty })
  }

  const punish = (call: Call, failure: Failure): void => {
    const { account } = call.target
    const concerned =
      failure.scope === "provider" ? (catalog.current().byProvider.get(account.spec.id) ?? [account]) : [account]
    for (const each of concerned) cool(each, call, failure)
    const holdMs = modelHoldOf(failure, call.endedMs)
    if (holdMs !== null) lockouts.hold(lockKey(call.target), call.endedMs, failure.kind, holdMs)
    if (locksModel(failure)) {
      const hintMs = failure.untilMs === null ? null : failure.untilMs - call.endedMs
      lockouts.fail(lockKey(call.target), call.endedMs, { status: failure.status, reason: failure.kind, hintMs })
    }
  }

  /** The provider answers for what is certain; what is only suspected is the account's. */
  const failed = (call: Call, failure: Failure): void => {
    const { account, model } = call.target
    const [certain = failure, ...suspected] = partsOf(suspicions.weigh(account.connection.id, model, failure))
    report(call, breakerReportOf(certain), certain)
    for (const each of [certain, ...suspected]) punish(call, each)
  }

  return TargetHealth.of({
    unready,
    admit: ({ account }, nowMs, lastWay) => breakers.admit(guardedOf(account), nowMs, lastWay),
    succeeded,
    failed,
    abandoned: (call) => report(call, "unknown", null),
    flush: cooldowns.flush.pipe(Effect.zipRight(breakers.flush), Effect.zipRight(lockouts.flush))
  })
})

export const layer: Layer.Layer<
  TargetHealth,
  never,
  Breakers.Breakers | Catalog.Catalog | Cooldowns.Cooldowns | Lockouts.Lockouts | Settings.Settings | Events.Events
> = Layer.effect(TargetHealth, make)
