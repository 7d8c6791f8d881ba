/** What one request knows on its way over the targets. Plain state of one fiber; nothing of it outlives the request. */
import type { Place } from "../../resilience/ConnectionDoor.ts"
import type { Failure } from "../../resilience/failure/FailureKind.ts"
import { policyOf } from "../../resilience/failure/Policy.ts"
import type { Target } from "../../routing/ModelResolver.ts"
import type { TargetHealth, Unready } from "../../routing/TargetHealth.ts"
import type { PutOff } from "../../routing/walk/LastWay.ts"
import { sooner } from "../../routing/walk/Soonest.ts"
import type { AttemptResult } from "../Attempt.ts"
import type { Work } from "../Exchange.ts"
import { makeCondemned, type WeighFailure } from "../../routing/walk/Condemned.ts"
import { type Exhausted, makeExhausted } from "../../routing/walk/Exhausted.ts"
import { answered, clientLeft, type LoopEnd, nobodySuits, queueFull } from "./LoopEnd.ts"
import { mayPass } from "../ToldError.ts"
import type { Pauses } from "./Pauses.ts"
import { maxAttempts, type RoutePolicy } from "../../routing/walk/RoutePolicy.ts"

/** A target's turn: its place in the order, and how often it was asked again. */
export interface Turn {
  readonly target: Target
  readonly index: number
  readonly retries: number
  /** Nobody else is left, and the breaker lets a call through that it would not let through otherwise. */
  readonly isProbe?: true
}

/** What came of one call. */
export interface Outcome {
  readonly turn: Turn
  readonly result: AttemptResult
  /** Null when it was no failure. */
  readonly failure: Failure | null
  /** Another target has answered. */
  readonly lost: boolean
}

export type BrokenResult = Extract<AttemptResult, { _tag: "Broken" }>

export interface Round {
  /** What is asked of the next target: another than at first once a broken answer is being continued. */
  work: Work
  readonly policy: RoutePolicy
  readonly exhausted: Exhausted
  readonly weigh: WeighFailure
  /** Connections whose token was renewed for this request. */
  readonly refreshed: Set<string>
  /** Targets whose places were all taken when their turn came. */
  readonly waiting: Array<{ readonly turn: Turn; readonly place: Extract<Place, { _tag: "Wait" }> }>
  /** Connections that this request itself has put to rest. */
  readonly tired: Set<string>
  /** Targets that were left for the very end. */
  readonly later: Array<PutOff<Turn>>
  last: { readonly target: Target; readonly failure: Failure } | null
  soonestUnready: Unready | null
  /** The answer whose beginning the client has, and which nobody has brought to its end. */
  broken: { readonly target: Target; readonly result: BrokenResult } | null
}

export const openRound = (work: Work, policy: RoutePolicy): Round => ({
  work,
  policy,
  exhausted: makeExhausted(),
  weigh: makeCondemned(),
  refreshed: new Set(),
  waiting: [],
  tired: new Set(),
  later: [],
  last: null,
  soonestUnready: null,
  broken: null
})

export const leaveOut = (round: Round, target: Target, reason: Unready): void => {
  round.work.exclusions.set(target, reason)
  round.soonestUnready = sooner(round.soonestUnready, reason)
}

/** What a failure means for the rest of the walk. */
export const tookFailure = (round: Round, target: Target, failure: Failure): void => {
  round.last = { target, failure }
  round.exhausted.add(target, failure)
  if (policyOf(failure).retrySameTarget) round.tired.add(target.account.connection.id)
}

type Health = Pick<typeof TargetHealth.Service, "unready">

export const isOpen = ({ exhausted }: Round, health: Health, target: Target, nowMs: number): boolean =>
  !exhausted.covers(target) && health.unready(target, nowMs) === null

/** Somebody could be asked from `from` on. */
export const hasAnother = (round: Round, health: Health, from: number, nowMs: () => number): boolean => {
  if (round.waiting.length > 0 || round.later.length > 0) return true
  const { order } = round.work.decision
  for (let index = from; index < order.length; index += 1) {
    const target = order[index]
    if (target !== undefined && isOpen(round, health, target, nowMs())) return true
  }
  return false
}

/** For the very end, when nobody else is left; who is not asked then was left out. */
export const putOff = (round: Round, target: Target, reason: Unready, nowMs: number): void => {
  const { untilMs } = reason
  round.work.exclusions.set(target, reason)
  const turn = { target, index: round.work.decision.order.length, retries: 0 }
  round.later.push({ turn, untilMs: untilMs ?? nowMs })
}

/** Milliseconds until the first of the targets that rest may be asked; null when one does not rest, or nobody knows. */
export const earliestRecoveryMs = ({ work }: Round, health: Health, nowMs: number): number | null => {
  let earliest: number | null = null
  for (const target of work.decision.order) {
    const reason = health.unready(target, nowMs)
    if (reason === null) return null
    const atMs = reason.retryAtMs ?? reason.untilMs
    if (atMs !== null) earliest = Math.min(earliest ?? Number.POSITIVE_INFINITY, atMs - nowMs)
  }
  return earliest
}

/** Another call may be made at all. */
export const mayAsk = ({ work }: Round, pauses: Pick<Pauses, "leftMs">): boolean =>
  work.attempts.length < maxAttempts && pauses.leftMs(work) > 0 && !work.exchange.reply.isClosed()

/** How it ends when nobody is left. */
export const endOf = (round: Round, health: Health, nowMs: number): LoopEnd => {
  const { broken, soonestUnready, last, work } = round
  if (broken !== null) return answered(broken.target, broken.result)
  if (last !== null && work.exchange.reply.isClosed()) return clientLeft(last.target)
  // A target that could not be asked this says less than one that could and rests.
  if (last !== null && (last.failure.kind !== "gateway_refusal" || soonestUnready === null)) {
    const { failure, target } = last
    const told = policyOf(failure).carriesRetryAfter && failure.untilMs !== null
    const earliestMs = earliestRecoveryMs(round, health, nowMs)
    // Another target may be well before the one that was asked last.
    const retryAfterMs = !mayPass(failure)
      ? null
      : told
        ? Math.max(1, Math.min(failure.untilMs - nowMs, earliestMs ?? Infinity))
        : earliestMs
    return { _tag: "Failed", target, failure, retryAfterMs }
  }
  const { order, reason } = work.decision
  const unready = soonestUnready ?? (order.length === 0 ? nobodySuits(reason) : queueFull)
  // A place at a connection is free as soon as any answer is over.
  const placeMs = unready.code === queueFull.code ? (unready.untilMs ?? nowMs + 1_000) - nowMs : null
  return { _tag: "Unavailable", unready, retryAfterMs: earliestRecoveryMs(round, health, nowMs) ?? placeMs }
}
