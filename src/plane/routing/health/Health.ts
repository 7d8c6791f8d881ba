/**
 * Checks whether a target may be called now, and updates its state after a call: breaker of the provider, cooldown of the connection,
 * lockout of the model, in one place for choices and calls. Plain functions over the states, so that the running gateway (`TargetHealth`)
 * and the simulator share them.
 */
import type { Connection, ConnectionHealth } from "../../../subjects/connections/entity.ts"
import type { LimitFacts } from "../../../contract/domain/Errors.ts"
import type { ProviderClass } from "../../../contract/domain/Provider.ts"
import type { ResilienceSettings } from "../../../subjects/resilience/entity.ts"
import type { Account } from "../../providers/Catalog.ts"
import type { Admission, BreakerPhase, BreakerReport } from "../../resilience/breaker/Breaker.ts"
import type { BreakerStates } from "../../resilience/breaker/BreakerStates.ts"
import { isTerminal, type TerminalStatus } from "../../resilience/cooldown/Cooldown.ts"
import type { CooldownStates } from "../../resilience/cooldown/CooldownStates.ts"
import { isTransient } from "../../resilience/cooldown/Transient.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import { countsForBreaker, locksModel, modelHoldOf, penaltyOf, policyOf } from "../../resilience/failure/Policy.ts"
import { makeSuspicions, partsOf, type Suspicions } from "../../resilience/failure/Suspicions.ts"
import type { LockoutKey } from "../../resilience/lockout/LockoutKey.ts"
import type { LockoutStates } from "../../resilience/lockout/LockoutStates.ts"
import { guardedOf } from "./AccountClass.ts"
import type { Target } from "../resolve/ModelResolver.ts"
import { type BreakerWait, type LastResort, probeInMs, retryAtMs } from "./LastResort.ts"

/** Reason for which a target is left out. */
export interface Unready {
  readonly rule: "breaker" | "cooldown" | "terminal" | "lockout" | "limit"
  /** Epoch milliseconds; null when it does not end by itself, or its end is not known. */
  readonly untilMs: number | null
  /** The state that only an operator can end. */
  readonly terminal: TerminalStatus | null
  /** The kind of failure behind it, where there was one. */
  readonly kind: string | null
  /** Description for people. */
  readonly detail: string
  /** Status that a client gets when nothing else is left. */
  readonly status: number
  readonly code: string
  /** Kind of last resort, where it may be asked when no other target is left. */
  readonly lastResort?: LastResort
  /** Epoch milliseconds from which a client may try again, where that is not `untilMs`. */
  readonly retryAtMs?: number
  /** Limit of the API key, for the rule `limit`. */
  readonly limit?: LimitFacts
}

/** A finished call. Times are epoch milliseconds. */
export interface Call {
  readonly target: Target
  readonly startedMs: number
  readonly endedMs: number
  /** True when it was the probe of a half-open breaker. */
  readonly probe: boolean
}

/** Change at the provider's breaker by a report. */
export interface BreakerNews {
  readonly call: Call
  readonly before: BreakerPhase
  readonly after: BreakerPhase
  /** Failures that count, after the report. */
  readonly failures: number
  /** The failure that counted; null when none did. */
  readonly counted: Failure | null
}

/** Targets that may have to wait, so that all others need not be looked at one by one. */
export interface Troubles {
  /**
   * Hot: returns the edition: as long as it is the same, so is the answer of `mayWait` for every target. Null: it
   * changes with time.
   */
  readonly edition: () => number | null
  /** Hot: false: it may be called, and its provider's breaker is closed, whatever the time is. */
  readonly mayWait: (target: Target) => boolean
}

export interface Health {
  readonly troubles: Troubles
  /** Hot: null when the target may be called. */
  readonly unready: (target: Target, nowMs: number) => Unready | null
  /**
   * Hot: asks the provider's breaker for one call; every admitted call is reported with one of the next three. `lastResort`: no other target
   * is left, and this one was found to wait for a `probe`.
   */
  readonly admit: (target: Target, nowMs: number, lastResort?: boolean) => Admission
  readonly succeeded: (call: Call) => void
  readonly failed: (call: Call, failure: Failure) => void
  /** Nothing was learned: the client left, or the call was not made. */
  readonly abandoned: (call: Call) => void
}

export interface HealthParts {
  readonly breakers: Pick<BreakerStates, "admit" | "changes" | "isAtRest" | "lastResortMs" | "report" | "waitMs">
  readonly cooldowns: Pick<
    CooldownStates,
    | "changes"
    | "isAtRest"
    | "doubtMs"
    | "fail"
    | "healthOf"
    | "onlyOthersFailed"
    | "failModel"
    | "modelState"
    | "modelWaitMs"
    | "succeed"
    | "waitMs"
  >
  readonly lockouts: Pick<LockoutStates, "fail" | "isEmpty" | "holdReason" | "hold" | "succeed" | "waitMs">
  readonly settings: () => Pick<ResilienceSettings, "connectionCooldown">
  /** A failure of scope `provider` concerns all its accounts. */
  readonly accountsOf: (provider: string) => ReadonlyArray<Account>
  readonly reported?: (news: BreakerNews) => void
  /** Absent: of its own. */
  readonly suspicions?: Suspicions
}

/** The class whose texts and cooldowns hold for an account: its own way of signing in, or the provider's. */
export const classOf = ({ authType }: Pick<Connection, "authType">, providerClass: ProviderClass): ProviderClass =>
  authType === "oauth" ? "oauth" : providerClass === "oauth" && authType === "apikey" ? "apikey" : providerClass

const seconds = (ms: number): string => {
  const whole = Math.ceil(ms / 1000)
  if (whole < 60) return `${whole}s`
  const minutes = Math.floor(whole / 60)
  return minutes < 60 ? `${minutes}m ${whole % 60}s` : `${Math.floor(minutes / 60)}h ${minutes % 60}m`
}

/** Says nothing about the provider: the request is at fault, or no one is. */
const isBlameless = (failure: Failure): boolean => failure.scope === "none" && policyOf(failure).terminal === null

/** Derives the report to the provider's breaker from a failed call. */
export const breakerReportOf = (failure: Failure): BreakerReport =>
  countsForBreaker(failure) ? "trip" : isBlameless(failure) ? "unknown" : "other"

const isErrorStatus = (status: number): boolean => status >= 400 && status <= 599

/** A limit by its kind, but the provider's code says that money is used up. */
const isOutOfMoney = ({ kind, clientError }: Failure): boolean =>
  kind === "quota_exhausted" && clientError?.kind === "insufficient_quota"

const lockKey = ({ account, model }: Target): LockoutKey => ({
  provider: account.spec.id,
  connectionId: account.connection.id,
  model
})

interface Deps extends Omit<HealthParts, "suspicions"> {
  readonly suspicions: Suspicions
}

const cooling = (
  { cooldowns }: Deps,
  { account }: Target,
  waitMs: number | null,
  nowMs: number,
  health: ConnectionHealth = cooldowns.healthOf(account.connection.id)
): Unready => {
  const { errorCode, lastError, lastErrorType, testStatus } = health
  const name = `${account.spec.id} (${account.connection.name})`
  const why = lastError === null ? "" : `: ${lastError}`
  const status = Number(errorCode)
  if (waitMs === null) {
    return {
      rule: "terminal",
      untilMs: null,
      terminal: isTerminal(testStatus) ? testStatus : null,
      kind: lastErrorType,
      detail: `${name} is ${testStatus.replace("_", " ")}${why}`,
      // An SDK asks again after a 503, which does not bring money back: it gets the provider's own status.
      status: testStatus === "credits_exhausted" && isErrorStatus(status) ? status : 503,
      code: "ALL_ACCOUNTS_INACTIVE"
    }
  }
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

const profileOf = ({ settings }: Deps, { connection, spec }: Account) =>
  settings().connectionCooldown[classOf(connection, spec.class) === "oauth" ? "oauth" : "apikey"]

/** Others go first; the decision leaves it out while there are any, and the loop asks it when there are none. */
const lastOfAll = (deps: Deps, target: Target, nowMs: number, modelWaitMs: number): Unready | null => {
  const { cooldowns } = deps
  const { account, model } = target
  const { id } = account.connection
  const cooldown = modelWaitMs === 0 ? null : cooldowns.modelState(id, model)
  const waitMs = cooldown === null ? cooldowns.doubtMs(id, nowMs) : modelWaitMs
  if (waitMs === 0) return null
  const unready = cooling(deps, target, waitMs, nowMs, cooldown ?? undefined)
  return {
    ...unready,
    lastResort: cooldown === null ? "doubt" : "cooldown",
    retryAtMs: retryAtMs(nowMs + waitMs, nowMs, profileOf(deps, account).baseCooldownMs)
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
    // A probe that is in progress is waited for.
    ...(probeMs === 0 || (breakerMs === null && firmMs === 0) ? { lastResort: "probe" as const } : {}),
    retryAtMs: nowMs + Math.max(1, probeMs)
  }
}

/**
 * Finds the reason for which a target is not ready. Of several the one that ends last: no earlier retry can succeed.
 */
const unready = (deps: Deps, target: Target, nowMs: number): Unready | null => {
  const { breakers, cooldowns, lockouts } = deps
  const { account, model } = target
  const coolMs = cooldowns.waitMs(account.connection.id, nowMs)
  if (coolMs === null) return cooling(deps, target, coolMs, nowMs)
  const breakerMs = breakers.waitMs(guardedOf(account), nowMs)
  const lockMs = lockouts.waitMs(lockKey(target), nowMs)
  const modelWaitMs = cooldowns.modelWaitMs(account.connection.id, model, nowMs)
  const longestMs = Math.max(coolMs, breakerMs ?? 0, lockMs)
  if (coolMs > 0 && coolMs === longestMs) return cooling(deps, target, coolMs, nowMs)
  if (breakerMs !== 0 && (breakerMs ?? 0) === longestMs) {
    const lastResortMs = breakers.lastResortMs(guardedOf(account), nowMs)
    const isUnblamed = cooldowns.onlyOthersFailed(account.connection.id, model)
    return broken(target, { breakerMs, lastResortMs, isUnblamed }, Math.max(coolMs, lockMs), nowMs)
  }
  if (lockMs === 0) return lastOfAll(deps, target, nowMs, modelWaitMs)
  const kind = lockouts.holdReason(lockKey(target), nowMs)
  const why = kind === "quota_exhausted" ? ", its quota is used up" : ""
  return {
    rule: "lockout",
    untilMs: nowMs + lockMs,
    terminal: null,
    kind,
    detail: `The model ${account.spec.id}/${model} is locked${why} (reset after ${seconds(lockMs)})`,
    status: 429,
    code: "model_cooldown"
  }
}

const report = ({ breakers, reported }: Deps, call: Call, outcome: BreakerReport, failure: Failure | null): void => {
  const { endedMs, probe, target } = call
  const change = breakers.report(guardedOf(target.account), endedMs, outcome, probe)
  reported?.({ call, ...change, counted: outcome === "trip" ? failure : null })
}

const succeeded = (deps: Deps, call: Call): void => {
  const { cooldowns, lockouts, suspicions } = deps
  const { startedMs, target } = call
  report(deps, call, "success", null)
  cooldowns.succeed(target.account.connection.id, startedMs, target.model)
  suspicions.clear(target.account.connection.id)
  lockouts.succeed(lockKey(target))
}

const cool = (deps: Deps, account: Account, call: Call, failure: Failure): void => {
  const { cooldowns } = deps
  const profile = profileOf(deps, account)
  const penalty = penaltyOf(failure, profile.useUpstreamRetryHints, call.endedMs)
  if (penalty === null) return
  const { id } = account.connection
  const words = {
    startedMs: call.startedMs,
    message: failure.message.slice(0, 500),
    // The provider's code about money is also sent to requests during the cooldown.
    type: isOutOfMoney(failure) ? "insufficient_quota" : failure.kind,
    code: String(failure.status)
  }
  if (penalty._tag === "Backoff" && isTransient(failure)) {
    cooldowns.failModel(id, call.target.model, profile, call.endedMs, words)
  } else cooldowns.fail(id, profile, call.endedMs, { ...words, penalty })
}

const concernedBy = ({ accountsOf }: Deps, account: Account): ReadonlyArray<Account> => {
  const accounts = accountsOf(account.spec.id)
  return accounts.length === 0 ? [account] : accounts
}

const punish = (deps: Deps, call: Call, failure: Failure): void => {
  const { lockouts } = deps
  const { account } = call.target
  const concerned = failure.scope === "provider" ? concernedBy(deps, account) : [account]
  for (const each of concerned) cool(deps, each, call, failure)
  const holdMs = modelHoldOf(failure, call.endedMs)
  if (holdMs !== null) lockouts.hold(lockKey(call.target), call.endedMs, failure.kind, holdMs)
  if (locksModel(failure)) {
    const hintMs = failure.untilMs === null ? null : failure.untilMs - call.endedMs
    lockouts.fail(lockKey(call.target), call.endedMs, { status: failure.status, reason: failure.kind, hintMs })
  }
}

/** The provider answers for what is certain; what is only suspected is the account's. */
const failed = (deps: Deps, call: Call, failure: Failure): void => {
  const { account, model } = call.target
  const [certain = failure, ...suspected] = partsOf(deps.suspicions.weigh(account.connection.id, model, failure))
  report(deps, call, breakerReportOf(certain), certain)
  for (const each of [certain, ...suspected]) punish(deps, call, each)
}

export const makeHealth = (parts: HealthParts): Health => {
  const { breakers, cooldowns, lockouts } = parts

  const troubles: Troubles = {
    edition: () => (lockouts.isEmpty() ? cooldowns.changes() + breakers.changes() : null),
    mayWait: ({ account }) => !breakers.isAtRest(account.spec.id) || !cooldowns.isAtRest(account.connection.id)
  }
  const deps: Deps = { ...parts, suspicions: parts.suspicions ?? makeSuspicions() }

  return {
    troubles,
    unready: (target, nowMs) => unready(deps, target, nowMs),
    admit: ({ account }, nowMs, lastResort) => breakers.admit(guardedOf(account), nowMs, lastResort),
    succeeded: (call) => succeeded(deps, call),
    failed: (call, failure) => failed(deps, call, failure),
    abandoned: (call) => report(deps, call, "unknown", null)
  }
}
