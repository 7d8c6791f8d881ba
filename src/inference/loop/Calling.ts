/** One call to one target, from the breaker's leave to what was learned. The hottest part of the loop: one guard, and nothing else. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import type { Release } from "../../resilience/ConcurrencyGate.ts"
import { countedFor } from "../../routing/engine/Snapshot.ts"
import type { Target } from "../../routing/ModelResolver.ts"
import type { Call } from "../../routing/TargetHealth.ts"
import { type AttemptResult, failed, ownFailure } from "../Attempt.ts"
import type { RunAttempt } from "../Attempts.ts"
import type { Contender } from "../Contest.ts"
import { type LessonRooms, makeLessons } from "./Lessons.ts"
import type { Pauses } from "./Pauses.ts"
import { hasAnother, leaveOut, type Outcome, type Round, type Turn } from "./Round.ts"

export interface CallingRooms extends LessonRooms {
  readonly attempt: RunAttempt
  readonly pauses: Pauses
}

/**
 * Begins a call while a place at the connection is held; the place is given back however it ends, before `next` goes on with the outcome.
 * Null when the target may not be called after all. Not lazy: to be called inside an effect that runs.
 */
export type BeginCall = <A>(
  round: Round,
  turn: Turn,
  contender: Contender | null,
  release: Release,
  next: (outcome: Outcome) => Effect.Effect<A>
) => Effect.Effect<A> | null

export const makeCalling = (rooms: CallingRooms): BeginCall => {
  const { attempt, health, pauses, stats, timers, tokens } = rooms
  const lessons = makeLessons(rooms)

  /** A whole answer that is not there in the combo's time for one target. A stream's first content has its own timer. */
  const inTime = (round: Round, attempting: Effect.Effect<AttemptResult>): Effect.Effect<AttemptResult> => {
    const { targetTimeoutMs } = round.policy
    if (targetTimeoutMs === null || round.work.envelope.stream) return attempting
    const late = `The target did not answer within ${targetTimeoutMs} ms.`
    return Effect.timeoutTo(attempting, {
      duration: targetTimeoutMs,
      onSuccess: (result) => result,
      onTimeout: () => failed(ownFailure(504, "first_byte_timeout", late))
    })
  }

  const asked = (
    round: Round,
    target: Target,
    lastChance: boolean,
    contender: Contender | null
  ): Effect.Effect<AttemptResult> => {
    const { work } = round
    if (contender === null) return inTime(round, attempt(work, target, lastChance))
    const own = { ...work, exchange: { ...work.exchange, reply: contender.reply } }
    return Effect.map(inTime(round, attempt(own, target, lastChance)), (result) => {
      if (!contender.hasLost()) work.targetWire = own.targetWire
      return result
    })
  }

  return (round, turn, contender, release, next) => {
    const { index, isProbe, target } = turn
    const startedMs = timers.nowMs()
    const admission = health.admit(target, startedMs, isProbe)
    if (admission === "refused") {
      release()
      const reason = health.unready(target, startedMs)
      if (reason !== null) leaveOut(round, target, reason)
      return null
    }
    /** The account with the token that was good in the end. */
    let fresh = target
    const call = (): Call => ({ target: fresh, startedMs, endedMs: timers.nowMs(), probe: admission === "probe" })
    const lastChance = !hasAnother(round, health, index + 1, timers.nowMs)
    const begunMs = timers.monotonicMs()
    const over = stats.begin(target.account.connection.id, target.model, countedFor(round.work.resolution))
    const calling = tokens.mayBeStale(target)
      ? Effect.flatMap(pauses.within(round.work, tokens.fresh(target)), (renewed) => {
          fresh = renewed ?? target
          return asked(round, fresh, lastChance, contender)
        })
      : Effect.suspend(() => asked(round, target, lastChance, contender))
    return Effect.flatMap(
      Effect.onExit(calling, (exit) => {
        release()
        over()
        if (!Exit.isSuccess(exit)) lessons.givenUp(round, call(), Exit.isInterrupted(exit))
        return Effect.void
      }),
      (result) => {
        const lost = contender?.hasLost() === true
        const failure = lessons.over(round, call(), result, begunMs, lost)
        return next({ turn: fresh === target ? turn : { ...turn, target: fresh }, result, failure, lost })
      }
    )
  }
}
