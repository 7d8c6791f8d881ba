/** Makes one call to one target and gives its place back. The hottest part of failover, so it has one guard and nothing else. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Exit from "effect/Exit"
import * as Layer from "effect/Layer"
import { Later, settled } from "../../kernel/Later.ts"
import { asSentence } from "../../kernel/text/Sentence.ts"
import * as Timers from "../../platform/Timers.ts"
import { countedFor } from "../routing/decide/Candidates.ts"
import type { Target } from "../routing/resolve/ModelResolver.ts"
import type { Call, Unready } from "../routing/health/TargetHealth.ts"
import * as PerformanceStats from "../routing/stats/PerformanceStats.ts"
import { type AttemptResult, failed, ownFailure } from "../attempt/AttemptResult.ts"
import { attemptEffect, type Attempting } from "../attempt/Attempting.ts"
import { AttemptRunner } from "../attempt/AttemptRunner.ts"
import { shutdown } from "../../contract/domain/Errors.ts"
import type { Work } from "../request/Exchange.ts"
import type { Cancel, StartListener } from "../request/Start.ts"
import type { Trail } from "../request/Trail.ts"
import { RunningRequests } from "../request/RunningRequests.ts"
import { AccessTokens } from "./AccessTokens.ts"
import { CallReservations, type CallReservation, type Held } from "./CallReservations.ts"
import type { AskStep, FailoverRun, Outcome } from "./FailoverRun.ts"
import type { Contender } from "./Contender.ts"
import { OutcomeRecorder } from "./OutcomeRecorder.ts"
import { Waits } from "./Waits.ts"

export class CallRunner extends Context.Tag("gateway/plane/failover/CallRunner")<
  CallRunner,
  {
    /**
     * Hot: makes a call for which a place is held; the place is released however it ends, before the listener hears of the outcome.
     * `contender`: null where no other call runs beside it.
     */
    readonly start: (
      run: FailoverRun,
      step: AskStep,
      contender: Contender | null,
      listener: StartListener<Outcome>
    ) => Cancel
  }
>() {}

/** Result of a call that a limit has not let through after the choice of its target. */
const overLimit = failed(ownFailure(429, "key_limit", "What was left of a limit of this API key is reserved by now."))

/** Reservation of callers without limits. */
const free: CallReservation = { onFile: (start) => start(), release: () => {} }

const nothing = (): void => {}

const services = Effect.all({
  attempts: AttemptRunner,
  recorder: OutcomeRecorder,
  reservations: CallReservations,
  running: RunningRequests,
  stats: PerformanceStats.PerformanceStats,
  timers: Timers.Timers,
  tokens: AccessTokens,
  waits: Waits
})
type Services = Effect.Effect.Success<typeof services>

/** One call, and what it holds. A class, because one is made per call. */
class Calling {
  /** The account with the token that was good in the end. */
  target: Target
  isOver = false
  readonly run: FailoverRun
  readonly step: AskStep
  readonly #services: Services
  readonly #contender: Contender | null
  readonly #startedMs: number
  readonly #begunMs: number
  #reserved: CallReservation | null = null
  #over = nothing
  #trail: Trail | null = null
  #failure: Outcome["failure"] = null
  /** Number of the call within its request, from 1. */
  #number = 0

  constructor(services: Services, run: FailoverRun, step: AskStep, contender: Contender | null) {
    this.#services = services
    this.run = run
    this.step = step
    this.#contender = contender
    this.target = step.turn.target
    this.#startedMs = services.timers.nowMs()
    this.#begunMs = services.timers.monotonicMs()
  }

  attempt(): Attempting {
    const { work } = this.run
    return this.#services.attempts.begin(
      this.#contender === null ? work : this.#beside(work, this.#contender),
      this.target,
      this.step.lastChance
    )
  }

  /** The request of a call that runs beside another one: it has a reply and a trail of its own. */
  #beside(work: Work, { reply }: Contender): Work {
    const trail = work.trail.branch()
    this.#trail = trail
    return { ...work, exchange: { ...work.exchange, reply }, trail }
  }

  begin(reserved: CallReservation): void {
    this.#reserved = reserved
    const { account, model } = this.step.turn.target
    const { running } = this.#services
    const { work } = this.run
    this.#number = work.trail.begins(this.step.turn.target)
    if (running.watch.isOn) running.begun(work, this.#number, this.step.turn.target)
    this.#over = this.#services.stats.begin(account.connection.id, model, countedFor(this.run.work.resolution))
  }

  hold(): Held | Later<Held> {
    const { work } = this.run
    return work.commitment === null
      ? free
      : this.#services.reservations.hold(work, work.commitment, this.step.turn.target)
  }

  /** Health is updated before the places are released. */
  finish(result: AttemptResult): void {
    if (this.#trail !== null && !this.#hasLost()) this.run.work.trail.asked(this.#trail)
    this.#close(() => {
      if (result._tag === "Failed") this.#reserved?.release()
      this.#failure = this.#services.recorder.over(this.run, this.#call(), result, this.#begunMs, this.#hasLost())
    })
  }

  giveUp(isInterrupted: boolean): void {
    const isNoted = isInterrupted && this.#reserved !== null
    this.#close(() => this.#services.recorder.cancelled(this.run, this.#call(), isNoted))
  }

  /** A limit has not let the call through. */
  refused(refusal: Unready): Outcome {
    this.giveUp(false)
    return { turn: this.step.turn, result: overLimit, failure: null, lost: this.#hasLost(), refusal }
  }

  outcome(result: AttemptResult): Outcome {
    const { target } = this
    const { turn } = this.step
    return {
      turn: target === turn.target ? turn : { ...turn, target },
      result,
      failure: this.#failure,
      lost: this.#hasLost(),
      refusal: null
    }
  }

  #hasLost(): boolean {
    return this.#contender?.hasLost() === true
  }

  #call(): Call {
    return {
      target: this.target,
      startedMs: this.#startedMs,
      endedMs: this.#services.timers.nowMs(),
      probe: this.step.probe
    }
  }

  /** Releases the places of the call, after `record`. */
  #close(record: () => void): void {
    const { attempts } = this.run.work.trail
    const noted = attempts.length
    this.isOver = true
    this.#over()
    try {
      record()
    } finally {
      this.step.permit()
      this.step.lastResortPermit?.()
    }
    const { running } = this.#services
    if (!running.watch.isOn) return
    // One that ended by a fault of the gateway is not noted.
    const attempt = attempts[noted]
    if (attempt !== undefined) running.ended(this.run.work, this.#number, attempt)
  }
}

const isLimited = ({ policy, work }: FailoverRun): boolean =>
  policy.targetTimeoutMs !== null && !work.envelope.stream && work.exchange.job?.isDetached !== true

/** A whole answer that is not there in the combo's time for one target. A stream's first content has its own timer. */
const inTime = (run: FailoverRun, attempt: Effect.Effect<AttemptResult>): Effect.Effect<AttemptResult> => {
  const { targetTimeoutMs } = run.policy
  if (targetTimeoutMs === null || !isLimited(run)) return attempt
  const late = `The target did not answer within ${targetTimeoutMs} ms.`
  return Effect.timeoutTo(attempt, {
    duration: targetTimeoutMs,
    onSuccess: (result) => result,
    onTimeout: () => failed(ownFailure(504, "first_byte_timeout", late))
  })
}

/** The client has left, the gateway stops, or the request's time is over before there was a token. */
const notAwaited = ({ waits }: Services, work: Work): AttemptResult => {
  if (work.exchange.reply.isClosed()) return { _tag: "Aborted", report: null, firstContentMs: null }
  return waits.leftMs(work) > 0
    ? failed(ownFailure(503, shutdown.code, asSentence(shutdown.message)))
    : failed(ownFailure(504, "total_timeout", "The access token of the account was not renewed in time."))
}

const attemptOf = (calling: Calling): Effect.Effect<AttemptResult> =>
  Effect.suspend(() => inTime(calling.run, attemptEffect(calling.attempt())))

/** The attempt with a token that has just been renewed. */
const renewedAttempt = (services: Services, calling: Calling): Effect.Effect<AttemptResult> => {
  const { tokens, waits } = services
  const { work } = calling.run
  return Effect.flatMap(waits.within(work, tokens.fresh(calling.target)), (renewed) => {
    if (renewed === null) return Effect.succeed(notAwaited(services, work))
    if (Either.isLeft(renewed)) return Effect.succeed(failed(renewed.left))
    calling.target = renewed.right
    return attemptOf(calling)
  })
}

/** Makes a call of which some part has to be waited for: its token, its time, or the attempt itself. */
const waited = (calling: Calling, attempt: Effect.Effect<AttemptResult>): Effect.Effect<Outcome> =>
  Effect.suspend(() => {
    const made = Effect.flatMap(settled(calling.hold(), unwanted), (held): Effect.Effect<Outcome> => {
      if ("rule" in held) return Effect.sync(() => calling.refused(held))
      calling.begin(held)
      return Effect.map(Effect.zipRight(onFile(held), attempt), (result) => {
        calling.finish(result)
        return calling.outcome(result)
      })
    })
    return Effect.onExit(made, (exit) =>
      Effect.sync(() => {
        if (!Exit.isSuccess(exit) && !calling.isOver) calling.giveUp(Exit.isInterrupted(exit))
      })
    )
  })

/** The call was broken off before its reservation was there. */
const unwanted = (held: Held): void => {
  if (!("rule" in held)) held.release()
}

const onFile = (reservation: CallReservation): Effect.Effect<void> =>
  reservation === free ? Effect.void : Effect.async((resume) => reservation.onFile(() => resume(Effect.void)))

const goOn = (calling: Calling, attempt: Effect.Effect<AttemptResult>, { goesOn }: StartListener<Outcome>): Cancel => {
  goesOn(waited(calling, attempt))
  return nothing
}

/** Makes a call in plain callbacks, from one event of its socket to the next. */
const called = (
  calling: Calling,
  attempting: Exclude<Attempting, { _tag: "Effect" }>,
  { died, ended }: StartListener<Outcome>
): Cancel => {
  let cancelAttempt = nothing
  const finished = (result: AttemptResult): void => {
    if (calling.isOver) return
    try {
      calling.finish(result)
      ended(calling.outcome(result))
    } catch (defect) {
      died(defect)
    }
  }
  const guarded = (start: () => void): void => {
    try {
      start()
    } catch (defect) {
      if (!calling.isOver) calling.giveUp(false)
      died(defect)
    }
  }
  const ask = (): void => {
    if (attempting._tag === "Known") finished(attempting.result)
    else cancelAttempt = attempting.start(finished)
  }
  guarded(() => {
    if (attempting._tag === "Known" || calling.run.work.commitment === null) {
      calling.begin(free)
      return ask()
    }
    const begin = (held: Held): void => {
      if (calling.isOver) return unwanted(held)
      if ("rule" in held) return ended(calling.refused(held))
      calling.begin(held)
      held.onFile(() => {
        if (!calling.isOver) guarded(ask)
      })
    }
    const held = calling.hold()
    if (held instanceof Later) held.whenKnown((known) => guarded(() => begin(known)))
    else begin(held)
  })
  return () => {
    if (calling.isOver) return
    cancelAttempt()
    calling.giveUp(true)
  }
}

const start = (
  services: Services,
  run: FailoverRun,
  step: AskStep,
  contender: Contender | null,
  listener: StartListener<Outcome>
): Cancel => {
  const calling = new Calling(services, run, step, contender)
  if (services.tokens.mayBeStale(calling.target)) return goOn(calling, renewedAttempt(services, calling), listener)
  if (isLimited(run)) return goOn(calling, attemptOf(calling), listener)
  let attempting: Attempting
  try {
    attempting = calling.attempt()
  } catch (defect) {
    calling.giveUp(false)
    listener.died(defect)
    return nothing
  }
  return attempting._tag === "Effect"
    ? goOn(calling, attempting.attempt, listener)
    : called(calling, attempting, listener)
}

export const make = Effect.map(services, (all) =>
  CallRunner.of({ start: (run, step, contender, listener) => start(all, run, step, contender, listener) })
)

export const layer: Layer.Layer<CallRunner, never, Effect.Effect.Context<typeof services>> = Layer.effect(
  CallRunner,
  make
)
