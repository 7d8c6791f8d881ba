/**
 * The one loop of all strategies: walks the targets in the order the decision gave them, leaves out what is not well, waits in line
 * where all places are taken, and stops at the first answer. One target is asked at a time.
 */
import * as Effect from "effect/Effect"
import type * as Settings from "../resilience/Settings.ts"
import type { Release } from "../resilience/ConcurrencyGate.ts"
import type { Failure } from "../resilience/failure/FailureKind.ts"
import { policyOf } from "../resilience/failure/Policy.ts"
import type { Target } from "../routing/ModelResolver.ts"
import type { Unready } from "../routing/TargetHealth.ts"
import type { Work } from "./Exchange.ts"
import type { StopSignal } from "./StopSignal.ts"
import { type CallingRooms, makeCalling } from "./loop/Calling.ts"
import { makeHedging } from "./loop/Hedging.ts"
import { answered, clientLeft, fullUntil, type LoopEnd, queueFull, stopped } from "./loop/LoopEnd.ts"
import { type LastWayRooms, makeLastWays } from "./loop/LastWays.ts"
import { makePauses } from "./loop/Pauses.ts"
import { makePlaces, type PlaceRooms } from "./loop/Places.ts"
import { makeRepeats } from "./loop/Repeats.ts"
import {
  type BrokenResult,
  endOf,
  hasAnother,
  isOpen,
  leaveOut,
  mayAsk,
  openRound,
  type Outcome,
  putOff,
  type Round,
  tookFailure,
  type Turn
} from "./loop/Round.ts"
import { takeSoonest } from "../routing/walk/LastWay.ts"
import { makePolicies } from "../routing/walk/RoutePolicy.ts"

export type { LoopEnd } from "./loop/LoopEnd.ts"
export { maxAttempts } from "../routing/walk/RoutePolicy.ts"

export interface LoopRooms extends Omit<CallingRooms, "pauses">, PlaceRooms {
  readonly gate: LastWayRooms["gate"]
  readonly settings: typeof Settings.Settings.Service
  readonly stop: typeof StopSignal.Service
  /**
   * What the next target is asked after an answer that broke when the client had its beginning already; null: it is told as broken.
   * Missing: always told. When nobody brings it to its end, the broken answer is how the walk ended.
   */
  readonly resume?: (work: Work, target: Target, broken: BrokenResult) => Work | null
}

export const makeLoop = (rooms: LoopRooms): ((work: Work) => Effect.Effect<LoopEnd>) => {
  const { health, resume, settings, stop, timers, tokens } = rooms
  const { nowMs } = timers
  const policyFor = makePolicies()
  const pauses = makePauses(rooms)
  const placeAt = makePlaces(rooms)
  const begin = makeCalling({ ...rooms, pauses })
  const hedge = makeHedging({
    begin,
    placeAt,
    isOpen: (round, target) => isOpen(round, health, target, nowMs())
  })

  const ended = (round: Round): LoopEnd => endOf(round, health, nowMs())
  const end = (round: Round): Effect.Effect<LoopEnd> => Effect.sync(() => ended(round))

  /** From one place in the order on: the first that may be called. */
  const walk = (round: Round, from: number): Effect.Effect<LoopEnd> => {
    if (stop.isStopping()) return end(round)
    const { order } = round.work.decision
    for (let index = from; index < order.length; index += 1) {
      const target = order[index]
      if (target === undefined || round.exhausted.covers(target)) continue
      const reason = health.unready(target, nowMs())
      if (reason === null) return enter(round, { target, index, retries: 0 })
      if (isForLater(round, target, reason)) putOff(round, target, reason, nowMs())
      else leaveOut(round, target, reason)
    }
    return queue(round)
  }

  /** It is better than no answer: it may be asked as a last way, or this request itself has just put it to rest. */
  const isForLater = (round: Round, { account }: Target, { lastWay, rule }: Unready): boolean =>
    lastWay !== undefined || (rule === "cooldown" && round.tired.has(account.connection.id))

  /** Takes a place, or puts the target off until nobody else is left. */
  const enter = (round: Round, turn: Turn): Effect.Effect<LoopEnd> => {
    const place = placeAt(round, turn.target)
    if (place._tag === "Free") return ask(round, turn, place.release)
    if (place._tag === "Wait") round.waiting.push({ turn, place })
    else leaveOut(round, turn.target, fullUntil(place.retryAfterMs, nowMs()))
    return walk(round, turn.index + 1)
  }

  /** One call, made while a place at the connection is held; the place is given back however it ends. */
  const ask = (round: Round, turn: Turn, release: Release): Effect.Effect<LoopEnd> => {
    const { hedgeDelayMs } = round.policy
    if (hedgeDelayMs !== null && hasAnother(round, health, turn.index + 1, nowMs)) {
      return Effect.flatMap(hedge(round, turn, release, hedgeDelayMs), (outcome) =>
        outcome === null ? walk(round, turn.index + 1) : after(round, outcome)
      )
    }
    return begin(round, turn, null, release, (outcome) => after(round, outcome)) ?? walk(round, turn.index + 1)
  }

  const after = (round: Round, { failure, result, turn }: Outcome): Effect.Effect<LoopEnd> => {
    if (failure === null) {
      return result._tag === "Failed" ? end(round) : Effect.succeed(answered(turn.target, result))
    }
    // What was learned must outlive a crash before anybody acts on it.
    if (result._tag === "Failed") return Effect.zipRight(health.flush, afterFailure(round, turn, failure))
    const goOn =
      result._tag === "Broken" && resume !== undefined && !stop.isStopping()
        ? resume(round.work, turn.target, result)
        : null
    if (result._tag !== "Broken" || goOn === null) return Effect.as(health.flush, answered(turn.target, result))
    round.work = goOn
    round.broken = { target: turn.target, result }
    return Effect.zipRight(health.flush, afterFailure(round, turn, failure))
  }

  const afterFailure = (round: Round, turn: Turn, failure: Failure): Effect.Effect<LoopEnd> =>
    Effect.suspend(() => {
      const { index, retries, target } = turn
      const { refreshToken, retrySameTarget, tryNextTarget } = policyOf(failure)
      round.last = { target, failure }
      if (!tryNextTarget || !mayAsk(round, pauses)) return end(round)
      if (refreshToken) return withNewToken(round, turn, failure)
      tookFailure(round, target, failure)
      const { failoverBeforeRetry, fallbackDelayMs, maxRetries, retryDelayMs } = round.policy
      const isLeft = hasAnother(round, health, index + 1, nowMs)
      // Somebody who has not failed yet comes before somebody who has, unless the combo says otherwise.
      if (retrySameTarget && retries < maxRetries && !(failoverBeforeRetry && isLeft) && mayRetry(target)) {
        return afterPause(round, retryDelayMs, () => enterAsItIs(round, { ...turn, retries: retries + 1 }))
      }
      return fallbackDelayMs === 0 || !isLeft
        ? walk(round, index + 1)
        : afterPause(round, fallbackDelayMs, () => walk(round, index + 1))
    })

  /** A cooldown is for others; what is locked, or out for good, is so for the next try as well. */
  const mayRetry = (target: Target): boolean => {
    const reason = health.unready(target, nowMs())
    return reason === null || reason.rule === "cooldown"
  }

  const afterPause = (round: Round, delayMs: number, next: () => Effect.Effect<LoopEnd>): Effect.Effect<LoopEnd> =>
    Effect.flatMap(pauses.pause(round.work, delayMs), (mayGoOn) => (mayGoOn ? next() : end(round)))

  /** The access token is no longer good: once with a new one, else the account is out. */
  const withNewToken = (round: Round, turn: Turn, failure: Failure): Effect.Effect<LoopEnd> => {
    const { index, target } = turn
    round.refreshed.add(target.account.connection.id)
    return Effect.flatMap(pauses.within(round.work, tokens.renew(target, failure)), (renewed) => {
      if (renewed !== null) return enter(round, { ...turn, target: renewed })
      round.exhausted.add(target, { ...failure, exhausts: "connection" })
      return Effect.zipRight(
        health.flush,
        Effect.suspend(() => walk(round, index + 1))
      )
    })
  }

  /** All that could be asked at once were; now in line, in the same order. */
  const queue = (round: Round): Effect.Effect<LoopEnd> => {
    if (stop.isStopping()) return end(round)
    const next = round.waiting.shift()
    if (next === undefined) return lastResort(round)
    const { place, turn } = next
    let held: Release | null = null
    // The client may leave, or the time be over, in the very moment the place comes.
    const wait = Effect.uninterruptibleMask((restore) => Effect.map(restore(place.wait), (release) => (held = release)))
    return Effect.flatMap(pauses.within(round.work, wait), (release) => {
      // Much may have been learned while it stood in line.
      const reason = release === null ? queueFull : health.unready(turn.target, nowMs())
      if (release !== null && (reason === null || reason.lastWay === "doubt")) {
        return ask(round, { ...turn, index: round.work.decision.order.length }, release)
      }
      held?.()
      if (round.work.exchange.reply.isClosed()) return Effect.succeed(clientLeft(turn.target))
      if (reason?.lastWay !== undefined) putOff(round, turn.target, reason, nowMs())
      else leaveOut(round, turn.target, reason ?? queueFull)
      return queue(round)
    })
  }

  /** Whoever is not well is still better than no answer: the one that is ready soonest. */
  const lastResort = (round: Round): Effect.Effect<LoopEnd> => {
    if (stop.isStopping()) return end(round)
    const turn = takeSoonest(round.later, lastWays.isFree)
    if (turn === undefined) return end(round)
    return round.exhausted.covers(turn.target) ? lastResort(round) : enterAsItIs(round, turn)
  }

  /** A turn at a target that may not be well: by the way that is open to it now. */
  const enterAsItIs = (round: Round, turn: Turn): Effect.Effect<LoopEnd> => {
    round.work.exclusions.delete(turn.target)
    const reason = health.unready(turn.target, nowMs())
    if (reason?.lastWay === "rest") return lastWays.ask(round, turn, reason)
    if (reason?.lastWay === "probe") return enter(round, { ...turn, isProbe: true })
    if (reason === null || isForLater(round, turn.target, reason)) return enter(round, turn)
    leaveOut(round, turn.target, reason)
    return walk(round, turn.index + 1)
  }

  const lastWays = makeLastWays({
    ...rooms,
    pauses,
    placeAt,
    begin,
    after: (round, outcome) => after(round, outcome),
    enter: (round, turn) => enter(round, turn),
    skip: (round, turn) => walk(round, turn.index + 1)
  })
  const repeats = makeRepeats({ settings, timers, health, pauses, walk: (round) => walk(round, 0) })

  const walkAll = (work: Work): Effect.Effect<LoopEnd> =>
    Effect.suspend(() => {
      const round = openRound(work, policyFor(settings.current(), work.resolution))
      const walked = walk(round, 0)
      if (work.decision.strategy === "quota-share") {
        return Effect.flatMap(walked, (end) => repeats.afterCooldown(round, end, 0, 0))
      }
      return round.policy.maxSetRetries === 0
        ? walked
        : Effect.flatMap(walked, (end) => repeats.furtherRounds(round, end, 0))
    })

  return (work) => Effect.map(walkAll(work), (end) => (stop.isStopping() ? stopped(end) : end))
}
