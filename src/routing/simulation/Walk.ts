/**
 * How one request walks its targets, step by step on a virtual clock: the order, retries, waits and rounds of the attempt loop
 * (`inference/AttemptLoop`), by the same policies. A test holds the two together. Nobody stands in line here, and nothing is hedged.
 */
import type { ResilienceSettings } from "../../domain/Resilience.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import { policyOf } from "../../resilience/failure/Policy.ts"
import type { Target } from "../ModelResolver.ts"
import type { Unready } from "../TargetHealth.ts"
import { isSoonOver, makeExhausted } from "../walk/Exhausted.ts"
import { sooner } from "../walk/Soonest.ts"
import { cooldownMarginMs, maxAttempts, type RoutePolicy } from "../walk/RoutePolicy.ts"
import type { Health } from "./Health.ts"

export interface Turn {
  readonly target: Target
  /** Its place in the order. */
  readonly index: number
  readonly retries: number
}

export type Step =
  | { readonly _tag: "Ask"; readonly turn: Turn; readonly probe: boolean }
  | { readonly _tag: "Pause"; readonly ms: number; readonly next: (nowMs: number) => Step }
  /** Nobody is left. */
  | { readonly _tag: "Fail" }

export interface WalkInput {
  readonly order: ReadonlyArray<Target>
  readonly policy: RoutePolicy
  readonly health: Pick<Health, "unready" | "admit">
  /** Null: failing is the end; else how long a short cooldown is waited for. */
  readonly wait: ResilienceSettings["comboCooldownWait"] | null
  /** When the whole request has to be over, epoch. */
  readonly deadlineMs: number
}

export interface Walk {
  readonly begin: (nowMs: number) => Step
  /** The call of this turn failed before its answer had begun. `renew` asks for a new access token. */
  readonly failed: (turn: Turn, failure: Failure, renew: () => boolean, nowMs: number) => Step
  /** A new access token was asked for at this target already. */
  readonly hasRefreshed: (target: Target) => boolean
}

const nobody: Step = { _tag: "Fail" }

export const makeWalk = ({ deadlineMs, health, order, policy, wait }: WalkInput): Walk => {
  const exhausted = makeExhausted()
  const refreshed = new Set<string>()
  const tired = new Set<string>()
  const later: Array<Turn> = []
  let last: Failure | null = null
  let soonestUnready: Unready | null = null
  let calls = 0
  let rounds = 0
  let callsBefore = -1
  let waits = 0
  let waitedMs = 0

  const leaveOut = (reason: Unready | null): void => {
    if (reason !== null) soonestUnready = sooner(soonestUnready, reason)
  }

  const isOpen = (target: Target, nowMs: number): boolean =>
    !exhausted.covers(target) && health.unready(target, nowMs) === null

  const hasAnother = (from: number, nowMs: number): boolean =>
    later.length > 0 || order.some((target, index) => index >= from && isOpen(target, nowMs))

  const earliestRecoveryMs = (nowMs: number): number | null => {
    let earliest: number | null = null
    for (const target of order) {
      const reason = health.unready(target, nowMs)
      if (reason === null) return null
      if (reason.untilMs !== null) earliest = Math.min(earliest ?? Number.POSITIVE_INFINITY, reason.untilMs - nowMs)
    }
    return earliest
  }

  const mayAsk = (nowMs: number): boolean => calls < maxAttempts && nowMs < deadlineMs

  const walk = (from: number, nowMs: number): Step => {
    for (let index = from; index < order.length; index += 1) {
      const target = order[index]
      if (target === undefined || exhausted.covers(target)) continue
      const reason = health.unready(target, nowMs)
      if (reason === null) return enter({ target, index, retries: 0 }, nowMs)
      const isTired = reason.rule === "cooldown" && tired.has(target.account.connection.id)
      if (isTired || reason.lastResort === true) later.push({ target, index: order.length, retries: 0 })
      else leaveOut(reason)
    }
    return lastResort(nowMs)
  }

  const enter = (turn: Turn, nowMs: number): Step => {
    const admission = health.admit(turn.target, nowMs)
    if (admission === "refused") {
      leaveOut(health.unready(turn.target, nowMs))
      return walk(turn.index + 1, nowMs)
    }
    calls += 1
    return { _tag: "Ask", turn, probe: admission === "probe" }
  }

  const lastResort = (nowMs: number): Step => {
    const turn = later.shift()
    if (turn === undefined) return over(nowMs)
    return exhausted.covers(turn.target) ? lastResort(nowMs) : enter(turn, nowMs)
  }

  const pause = (ms: number, nowMs: number, next: (nowMs: number) => Step): Step => {
    if (ms <= 0) return next(nowMs)
    return ms >= deadlineMs - nowMs ? over(nowMs) : { _tag: "Pause", ms, next }
  }

  /** Nobody is left in this round. */
  const over = (nowMs: number): Step => (wait === null ? furtherRound(nowMs) : afterCooldown(wait, nowMs))

  const afterCooldown = (
    { budgetMs, enabled, maxAttempts: most, maxWaitMs }: NonNullable<typeof wait>,
    nowMs: number
  ) => {
    const isFailed = last !== null && (last.kind !== "gateway_refusal" || soonestUnready === null)
    const kind = isFailed ? (last?.kind ?? null) : (soonestUnready?.kind ?? null)
    const restMs = isSoonOver(kind) ? earliestRecoveryMs(nowMs) : null
    if (!enabled || restMs === null || waits >= most) return nobody
    const waitMs = restMs + cooldownMarginMs
    if (waitMs > maxWaitMs || waitedMs + waitMs > budgetMs || waitMs >= deadlineMs - nowMs) return nobody
    waits += 1
    waitedMs += waitMs
    const again = (laterMs: number): Step => {
      exhausted.forgetPassing()
      tired.clear()
      last = null
      soonestUnready = null
      return walk(0, laterMs)
    }
    return { _tag: "Pause", ms: waitMs, next: again } as const
  }

  const furtherRound = (nowMs: number): Step => {
    const { maxSetRetries, setRetryDelayMs } = policy
    if (rounds >= maxSetRetries || calls === callsBefore || !mayAsk(nowMs)) return nobody
    const restMs = earliestRecoveryMs(nowMs)
    if (tired.size === 0 && (restMs === null || restMs > setRetryDelayMs)) return nobody
    if (setRetryDelayMs >= deadlineMs - nowMs) return nobody
    rounds += 1
    callsBefore = calls
    const again = (laterMs: number): Step => {
      exhausted.forgetPassing()
      return walk(0, laterMs)
    }
    return { _tag: "Pause", ms: setRetryDelayMs, next: again }
  }

  const withNewToken = (turn: Turn, failure: Failure, renew: () => boolean, nowMs: number): Step => {
    refreshed.add(turn.target.account.connection.id)
    if (renew()) return enter(turn, nowMs)
    exhausted.add(turn.target, { ...failure, exhausts: "connection" })
    return walk(turn.index + 1, nowMs)
  }

  const mayRetry = (target: Target, nowMs: number): boolean => {
    const reason = health.unready(target, nowMs)
    return reason === null || reason.rule === "cooldown"
  }

  const failed = (turn: Turn, failure: Failure, renew: () => boolean, nowMs: number): Step => {
    const { index, retries, target } = turn
    const { refreshToken, retrySameTarget, tryNextTarget } = policyOf(failure)
    last = failure
    if (!tryNextTarget || !mayAsk(nowMs)) return over(nowMs)
    if (refreshToken) return withNewToken(turn, failure, renew, nowMs)
    exhausted.add(target, failure)
    if (retrySameTarget) tired.add(target.account.connection.id)
    const { failoverBeforeRetry, fallbackDelayMs, maxRetries, retryDelayMs } = policy
    const isLeft = hasAnother(index + 1, nowMs)
    if (retrySameTarget && retries < maxRetries && !(failoverBeforeRetry && isLeft) && mayRetry(target, nowMs)) {
      return pause(retryDelayMs, nowMs, (laterMs) => enter({ ...turn, retries: retries + 1 }, laterMs))
    }
    return fallbackDelayMs === 0 || !isLeft
      ? walk(index + 1, nowMs)
      : pause(fallbackDelayMs, nowMs, (laterMs) => walk(index + 1, laterMs))
  }

  return {
    begin: (nowMs) => walk(0, nowMs),
    failed,
    hasRefreshed: ({ account }) => refreshed.has(account.connection.id)
  }
}
