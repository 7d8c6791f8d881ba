/** Makes one call to one target and gives its place back. The hottest part of failover, so it has one guard and nothing else. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { asSentence } from "../../kernel/text/Sentence.ts"
import * as Timers from "../../platform/Timers.ts"
import { countedFor } from "../routing/decide/Candidates.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { Call } from "../routing/health/TargetHealth.ts"
import * as PerformanceStats from "../routing/stats/PerformanceStats.ts"
import { type AttemptResult, failed, ownFailure } from "../attempt/AttemptResult.ts"
import { type Attempting, AttemptRunner } from "../attempt/AttemptRunner.ts"
import { shutdown } from "../../domain/Errors.ts"
import type { Work } from "../request/Exchange.ts"
import { AccessTokens } from "./AccessTokens.ts"
import { CallReservations, type HeldCall } from "./CallReservations.ts"
import type { AskStep, FailoverRun, Outcome } from "./FailoverRun.ts"
import type { Contender } from "./Contender.ts"
import { OutcomeRecorder } from "./OutcomeRecorder.ts"
import { Waits } from "./Waits.ts"

export class CallRunner extends Context.Tag("gateway/plane/failover/CallRunner")<
  CallRunner,
  {
    /**
     * Hot: makes a call for which a place is held; the place is released however it ends, before `next` goes on with the outcome.
     * Not lazy: to be called inside an effect that runs.
     */
    readonly run: <A>(
      run: FailoverRun,
      step: AskStep,
      contender: Contender | null,
      next: (outcome: Outcome) => Effect.Effect<A>
    ) => Effect.Effect<A>
    /**
     * Hot: the same without an effect. False where the call needs one: then nothing has been done, and the place is still held. One of
     * the two functions is called exactly once, maybe before this returns.
     */
    readonly begin: (
      run: FailoverRun,
      step: AskStep,
      ended: (outcome: Outcome) => void,
      died: (defect: unknown) => void
    ) => boolean
  }
>() {}

/** Failure of a call before which, after the choice of its target, another request has taken the rest of the limit. */
const overLimit = failed(ownFailure(429, "key_limit", "What was left of a limit of this API key is reserved by now."))

/** Reservation of callers without limits. */
const free: HeldCall = { onFile: (start) => start(), release: () => {} }

export const make = Effect.gen(function* () {
  const attempts = yield* AttemptRunner
  const recorder = yield* OutcomeRecorder
  const reservations = yield* CallReservations
  const stats = yield* PerformanceStats.PerformanceStats
  const timers = yield* Timers.Timers
  const tokens = yield* AccessTokens
  const waits = yield* Waits

  const isLimited = ({ policy, work }: FailoverRun): boolean =>
    policy.targetTimeoutMs !== null && !work.envelope.stream && work.exchange.job?.isDetached !== true

  /** A whole answer that is not there in the combo's time for one target. A stream's first content has its own timer. */
  const inTime = (run: FailoverRun, attempting: Effect.Effect<AttemptResult>): Effect.Effect<AttemptResult> => {
    const { targetTimeoutMs } = run.policy
    if (targetTimeoutMs === null || !isLimited(run)) return attempting
    const late = `The target did not answer within ${targetTimeoutMs} ms.`
    return Effect.timeoutTo(attempting, {
      duration: targetTimeoutMs,
      onSuccess: (result) => result,
      onTimeout: () => failed(ownFailure(504, "first_byte_timeout", late))
    })
  }

  const asked = (
    run: FailoverRun,
    target: Target,
    lastChance: boolean,
    contender: Contender | null
  ): Effect.Effect<AttemptResult> => {
    const { work } = run
    if (contender === null) return inTime(run, attempts.run(work, target, lastChance))
    const trail = work.trail.branch()
    const own = { ...work, exchange: { ...work.exchange, reply: contender.reply }, trail }
    return Effect.map(inTime(run, attempts.run(own, target, lastChance)), (result) => {
      if (!contender.hasLost()) work.trail.asked(trail)
      return result
    })
  }

  const hold = ({ work }: FailoverRun, target: Target): HeldCall | null =>
    work.commitment === null ? free : reservations.hold(work, work.commitment, target)

  /** The client has left, the gateway stops, or the request's time is over before there was a token. */
  const notAwaited = (work: Work): AttemptResult => {
    if (work.exchange.reply.isClosed()) return { _tag: "Aborted", report: null, firstContentMs: null }
    return waits.leftMs(work) > 0
      ? failed(ownFailure(503, shutdown.code, asSentence(shutdown.message)))
      : failed(ownFailure(504, "total_timeout", "The access token of the account was not renewed in time."))
  }

  const onFile = (held: HeldCall): Effect.Effect<void> =>
    held === free ? Effect.void : Effect.async((resume) => held.onFile(() => resume(Effect.void)))

  const runCall: typeof CallRunner.Service.run = (run, step, contender, next) => {
    const { held, heldLastResort, lastChance, probe, turn } = step
    const { target } = turn
    const startedMs = timers.nowMs()
    /** The account with the token that was good in the end. */
    let fresh = target
    const call = (): Call => ({ target: fresh, startedMs, endedMs: timers.nowMs(), probe })
    const begunMs = timers.monotonicMs()
    const over = stats.begin(target.account.connection.id, target.model, countedFor(run.work.resolution))
    const reserved = hold(run, target)
    const making = tokens.mayBeStale(target)
      ? Effect.flatMap(waits.within(run.work, tokens.fresh(target)), (renewed) => {
          if (renewed === null) return Effect.succeed(notAwaited(run.work))
          if (Either.isLeft(renewed)) return Effect.succeed(failed(renewed.left))
          fresh = renewed.right
          return asked(run, fresh, lastChance, contender)
        })
      : Effect.suspend(() => asked(run, target, lastChance, contender))
    const calling = reserved === null ? Effect.succeed(overLimit) : Effect.zipRight(onFile(reserved), making)
    const hasLost = (): boolean => contender?.hasLost() === true
    let failure: Outcome["failure"] = null
    return Effect.flatMap(
      Effect.onExit(calling, (exit) => {
        over()
        try {
          // Health is updated before the places are released.
          if (Exit.isSuccess(exit) && exit.value._tag === "Failed") reserved?.release()
          if (Exit.isSuccess(exit)) failure = recorder.over(run, call(), exit.value, begunMs, hasLost())
          else recorder.givenUp(run, call(), Exit.isInterrupted(exit))
        } finally {
          held()
          heldLastResort?.()
        }
        return Effect.void
      }),
      (result) =>
        next({
          turn: fresh === target ? turn : { ...turn, target: fresh },
          result,
          failure,
          lost: hasLost()
        })
    )
  }

  const begin: typeof CallRunner.Service.begin = (run, step, ended, died) => {
    const { held, heldLastResort, lastChance, probe, turn } = step
    const { target } = turn
    if (tokens.mayBeStale(target) || isLimited(run)) return false
    const startedMs = timers.nowMs()
    const begunMs = timers.monotonicMs()
    let over: (() => void) | null = null
    let isOver = false
    /** Releases the places of the call, after `record`. */
    const close = <A>(record: (call: Call) => A): A => {
      isOver = true
      over?.()
      try {
        return record({ target, startedMs, endedMs: timers.nowMs(), probe })
      } finally {
        held()
        heldLastResort?.()
      }
    }
    let reserved: HeldCall | null = null
    const finished = (result: AttemptResult): void => {
      if (isOver) return
      try {
        if (result._tag === "Failed") reserved?.release()
        const failure = close((call) => recorder.over(run, call, result, begunMs, false))
        ended({ turn, result, failure, lost: false })
      } catch (defect) {
        died(defect)
      }
    }
    const guarded = (start: () => void): void => {
      try {
        start()
      } catch (defect) {
        if (!isOver) close((call) => recorder.givenUp(run, call, false))
        died(defect)
      }
    }
    let attempting: Attempting
    try {
      attempting = attempts.begin(run.work, target, lastChance)
      if (attempting._tag === "Effect") return false
    } catch (defect) {
      close((call) => recorder.givenUp(run, call, false))
      died(defect)
      return true
    }
    const made = attempting
    guarded(() => {
      over = stats.begin(target.account.connection.id, target.model, countedFor(run.work.resolution))
      if (made._tag === "Known") return finished(made.result)
      const { start } = made
      if (run.work.commitment === null) return start(finished)
      reserved = hold(run, target)
      if (reserved === null) finished(overLimit)
      else reserved.onFile(() => guarded(() => start(finished)))
    })
    return true
  }

  return CallRunner.of({ run: runCall, begin })
})

export const layer: Layer.Layer<
  CallRunner,
  never,
  | AttemptRunner
  | CallReservations
  | OutcomeRecorder
  | PerformanceStats.PerformanceStats
  | Timers.Timers
  | AccessTokens
  | Waits
> = Layer.effect(CallRunner, make)
