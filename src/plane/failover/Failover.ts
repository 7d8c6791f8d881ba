/**
 * Runs the walk of a request over its targets (`routing/walk`) with real calls, queues and pauses, until one answers or none is left.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { isBilledByPiece } from "../../domain/MediaKind.ts"
import * as Timers from "../../platform/Timers.ts"
import * as ConcurrencyGate from "../resilience/ConcurrencyGate.ts"
import * as Settings from "../resilience/Settings.ts"
import { TargetHealth } from "../routing/health/TargetHealth.ts"
import { makePolicies, withoutHedging } from "../routing/walk/RoutePolicy.ts"
import { Continuation } from "../attempt/Continuation.ts"
import type { Work } from "../request/Exchange.ts"
import { StopSignal } from "../request/StopSignal.ts"
import { AttemptEvents } from "./AttemptEvents.ts"
import { AccessTokens } from "./AccessTokens.ts"
import { CallReservations } from "./CallReservations.ts"
import { CallRunner } from "./CallRunner.ts"
import { ConcurrencyLimiter, noLongerThan } from "./ConcurrencyLimiter.ts"
import { answered, endOfWalk, type FailoverEnd, stopped } from "./FailoverEnd.ts"
import { type AskStep, FailoverRun, type Outcome, type RunServices, type RunStep } from "./FailoverRun.ts"
import { Hedge } from "./Hedge.ts"
import { Waits } from "./Waits.ts"

export class Failover extends Context.Tag("gateway/plane/failover/Failover")<
  Failover,
  {
    /** Hot: asks one target after the other until one answers or none is left. */
    readonly run: (work: Work) => Effect.Effect<FailoverEnd>
    /** Hot: the same, without a fiber for a request whose first call answers. */
    readonly begin: (work: Work, listener: FailoverListener) => void
  }
>() {}

/** One of the three is called exactly once, maybe before `begin` returns. */
export interface FailoverListener {
  readonly ended: (end: FailoverEnd) => void
  /** Receives the effect that has to be run to come to the end: it waits, or asks more than one target. */
  readonly goesOn: (rest: Effect.Effect<FailoverEnd>) => void
  /** The gateway itself is at fault. */
  readonly died: (defect: unknown) => void
}

export const make = Effect.gen(function* () {
  const attemptEvents = yield* AttemptEvents
  const calls = yield* CallRunner
  const continuation = yield* Continuation
  const gate = yield* ConcurrencyGate.ConcurrencyGate
  const health = yield* TargetHealth
  const hedge = yield* Hedge
  const limiter = yield* ConcurrencyLimiter
  const reservations = yield* CallReservations
  const settings = yield* Settings.Settings
  const stop = yield* StopSignal
  const timers = yield* Timers.Timers
  const tokens = yield* AccessTokens
  const waits = yield* Waits
  const policyFor = makePolicies()
  const runServices: RunServices = { gate, health, limiter, reservations, settings, stop, timers, waits }

  const next = (run: FailoverRun, step: RunStep): Effect.Effect<FailoverEnd> => {
    switch (step._tag) {
      case "Ask":
        return ask(run, step)
      case "Line":
        return line(run, step)
      case "Pause":
        return Effect.flatMap(waits.pause(run.work, step.ms), (mayGoOn) => next(run, run.walk.resumed(mayGoOn)))
      case "Renew":
        return renew(run, step)
      case "Running":
      case "End":
        return Effect.succeed(end(run, step))
    }
  }

  const end = (run: FailoverRun, step: RunStep): FailoverEnd => {
    if (run.broken !== null) return answered(run.broken.target, run.broken.result)
    return endOfWalk(step._tag === "End" ? step.end : run.walk.end())
  }

  const ask = (run: FailoverRun, step: AskStep): Effect.Effect<FailoverEnd> =>
    step.hedgeAfterMs === null || hedge === null
      ? calls.run(run, step, null, (outcome) => after(run, outcome))
      : Effect.flatMap(hedge(run, step, step.hedgeAfterMs), (outcome) => after(run, outcome))

  const after = (run: FailoverRun, outcome: Outcome): Effect.Effect<FailoverEnd> => {
    const { failure, result, turn } = outcome
    const { target } = turn
    if (failure === null) {
      return Effect.sync(() => (result._tag === "Failed" ? end(run, { _tag: "Running" }) : answered(target, result)))
    }
    const goOn =
      result._tag === "Broken" && continuation !== null && !stop.isStopping()
        ? continuation.resume(run.work, target, result)
        : null
    // What was learned must outlive a crash before it is acted on.
    if (result._tag !== "Failed" && (result._tag !== "Broken" || goOn === null)) {
      attemptEvents.failed(run, outcome, false)
      return Effect.as(health.flush, answered(target, result))
    }
    if (result._tag === "Broken" && goOn !== null) {
      run.work = goOn
      run.broken = { target, result }
    }
    return Effect.flatMap(health.flush, () => {
      const step = run.walk.failed(turn, failure)
      attemptEvents.failed(run, outcome, step._tag !== "End")
      return next(run, step)
    })
  }

  const line = (run: FailoverRun, step: Extract<RunStep, { _tag: "Line" }>): Effect.Effect<FailoverEnd> => {
    const { holding, limitMs, wait } = step
    const waiting = waits.forPlace(run.work, limitMs === null ? wait : noLongerThan(limitMs, wait))
    const guarded = holding === null ? waiting : Effect.onInterrupt(waiting, () => Effect.sync(holding))
    return Effect.flatMap(guarded, (held) => next(run, run.walk.placed(held)))
  }

  const renew = (
    run: FailoverRun,
    { failure, turn }: Extract<RunStep, { _tag: "Renew" }>
  ): Effect.Effect<FailoverEnd> =>
    Effect.flatMap(waits.within(run.work, tokens.renew(turn.target, failure)), (renewed) =>
      Effect.flatMap(renewed === null || Either.isLeft(renewed) ? health.flush : Effect.void, () =>
        next(
          run,
          renewed === null
            ? run.walk.renewed(null)
            : Either.match(renewed, {
                onLeft: (instead) => run.walk.renewed(null, instead),
                onRight: (target) => run.walk.renewed(target)
              })
        )
      )
    )

  const runOf = (work: Work): FailoverRun => {
    const policy = policyFor(settings.current(), work.resolution)
    const { endpoint } = work.exchange.codec
    return new FailoverRun(
      runServices,
      work,
      isBilledByPiece(endpoint) || work.webSearch?.isRun === true ? withoutHedging(policy) : policy
    )
  }

  const last = (end: FailoverEnd): FailoverEnd => (stop.isStopping() ? stopped(end) : end)

  const runWork = (work: Work): Effect.Effect<FailoverEnd> =>
    Effect.suspend(() => {
      const run = runOf(work)
      return Effect.map(next(run, run.walk.begin()), last)
    })

  const begin = (work: Work, { died, ended, goesOn }: FailoverListener): void => {
    const run = runOf(work)
    const step = run.walk.begin()
    if (step._tag !== "Ask" || (step.hedgeAfterMs !== null && hedge !== null)) {
      return goesOn(Effect.map(next(run, step), last))
    }
    const called = (outcome: Outcome): void => {
      const { failure, result, turn } = outcome
      if (failure === null && result._tag !== "Failed") ended(last(answered(turn.target, result)))
      // Not inside the callback of a socket.
      else
        goesOn(
          Effect.map(
            Effect.zipRight(
              Effect.yieldNow(),
              Effect.suspend(() => after(run, outcome))
            ),
            last
          )
        )
    }
    if (!calls.begin(run, step, called, died))
      goesOn(
        Effect.map(
          Effect.suspend(() => ask(run, step)),
          last
        )
      )
  }

  return Failover.of({ run: runWork, begin })
})

export const layer: Layer.Layer<
  Failover,
  never,
  | AttemptEvents
  | CallReservations
  | CallRunner
  | ConcurrencyGate.ConcurrencyGate
  | TargetHealth
  | ConcurrencyLimiter
  | Settings.Settings
  | StopSignal
  | Timers.Timers
  | AccessTokens
  | Waits
> = Layer.effect(Failover, make)
