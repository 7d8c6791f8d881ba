/**
 * Runs the walk of a request over its targets (`routing/walk`) with real calls, queues and pauses, until one answers or none is left.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as Layer from "effect/Layer"
import { isBilledByPiece } from "../../contract/domain/MediaKind.ts"
import * as Timers from "../../platform/Timers.ts"
import * as ConcurrencyGate from "../resilience/ConcurrencyGate.ts"
import * as Settings from "../resilience/Settings.ts"
import { TargetHealth } from "../routing/health/TargetHealth.ts"
import { makePolicies, withoutHedging } from "../routing/walk/RoutePolicy.ts"
import { Continuation } from "../attempt/Continuation.ts"
import type { Work } from "../request/Exchange.ts"
import { type Cancel, effectOf, type StartListener } from "../request/Start.ts"
import { StopSignal } from "../request/StopSignal.ts"
import { AttemptEvents } from "./AttemptEvents.ts"
import { AccessTokens } from "./AccessTokens.ts"
import { CallReservations } from "./CallReservations.ts"
import { CallRunner } from "./CallRunner.ts"
import { ConcurrencyLimiter, noLongerThan } from "./ConcurrencyLimiter.ts"
import { answered, endOfWalk, type FailoverEnd, stopped } from "./FailoverEnd.ts"
import { type AskStep, FailoverRun, type Outcome, type RunStep } from "./FailoverRun.ts"
import { Hedge } from "./Hedge.ts"
import { Waits } from "./Waits.ts"

export class Failover extends Context.Tag("gateway/plane/failover/Failover")<
  Failover,
  {
    /** Hot: asks one target after the other until one answers or none is left; without a fiber where the first call answers. */
    readonly start: (work: Work, listener: StartListener<FailoverEnd>) => Cancel
    /** The same as an effect. */
    readonly run: (work: Work) => Effect.Effect<FailoverEnd>
  }
>() {}

const services = Effect.all({
  attemptEvents: AttemptEvents,
  calls: CallRunner,
  continuation: Continuation,
  gate: ConcurrencyGate.ConcurrencyGate,
  health: TargetHealth,
  hedge: Hedge,
  limiter: ConcurrencyLimiter,
  reservations: CallReservations,
  settings: Settings.Settings,
  stop: StopSignal,
  timers: Timers.Timers,
  tokens: AccessTokens,
  waits: Waits
})
type Services = Effect.Effect.Success<typeof services>

const nothing = (): void => {}

const next = (services: Services, run: FailoverRun, step: RunStep): Effect.Effect<FailoverEnd> => {
  switch (step._tag) {
    case "Ask":
      return Effect.flatMap(asked(services, run, step), (outcome) => after(services, run, outcome))
    case "Line":
      return line(services, run, step)
    case "Pause":
      return Effect.flatMap(services.waits.pause(run.work, step.ms), (mayGoOn) =>
        next(services, run, run.walk.resumed(mayGoOn))
      )
    case "Renew":
      return renew(services, run, step)
    case "Running":
    case "End":
      return Effect.succeed(end(run, step))
  }
}

const end = (run: FailoverRun, step: RunStep): FailoverEnd => {
  if (run.broken !== null) return answered(run.broken.target, run.broken.result)
  return endOfWalk(step._tag === "End" ? step.end : run.walk.end())
}

const asked = ({ calls, hedge }: Services, run: FailoverRun, step: AskStep): Effect.Effect<Outcome> =>
  step.hedgeAfterMs === null || hedge === null
    ? effectOf<Outcome>((listener) => calls.start(run, step, null, listener))
    : hedge(run, step, step.hedgeAfterMs)

const after = (services: Services, run: FailoverRun, outcome: Outcome): Effect.Effect<FailoverEnd> => {
  const { attemptEvents, continuation, health, stop } = services
  const { failure, refusal, result, turn } = outcome
  const { target } = turn
  if (refusal !== null) return Effect.suspend(() => next(services, run, run.walk.refused(turn, refusal)))
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
    return next(services, run, step)
  })
}

const line = (
  services: Services,
  run: FailoverRun,
  { holding, limitMs, wait }: Extract<RunStep, { _tag: "Line" }>
): Effect.Effect<FailoverEnd> => {
  const waiting = services.waits.forPlace(run.work, limitMs === null ? wait : noLongerThan(limitMs, wait))
  const guarded = holding === null ? waiting : Effect.onInterrupt(waiting, () => Effect.sync(holding))
  return Effect.flatMap(guarded, (permit) => next(services, run, run.walk.placed(permit)))
}

const renew = (
  services: Services,
  run: FailoverRun,
  { failure, turn }: Extract<RunStep, { _tag: "Renew" }>
): Effect.Effect<FailoverEnd> => {
  const { health, tokens, waits } = services
  return Effect.flatMap(waits.within(run.work, tokens.renew(turn.target, failure)), (renewed) =>
    Effect.flatMap(renewed === null || Either.isLeft(renewed) ? health.flush : Effect.void, () =>
      next(
        services,
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
}

const last = ({ stop }: Services, end: FailoverEnd): FailoverEnd => (stop.isStopping() ? stopped(end) : end)

const toLast = (services: Services, rest: Effect.Effect<FailoverEnd>): Effect.Effect<FailoverEnd> =>
  Effect.map(rest, (end) => last(services, end))

const start = (services: Services, run: FailoverRun, { died, ended, goesOn }: StartListener<FailoverEnd>): Cancel => {
  const step = run.walk.begin()
  if (step._tag !== "Ask" || (step.hedgeAfterMs !== null && services.hedge !== null)) {
    goesOn(toLast(services, next(services, run, step)))
    return nothing
  }
  return services.calls.start(run, step, null, {
    ended: (outcome) => {
      const { failure, result, turn } = outcome
      if (failure === null && result._tag !== "Failed") ended(last(services, answered(turn.target, result)))
      // Not inside the callback of a socket.
      else
        goesOn(
          toLast(
            services,
            Effect.flatMap(Effect.yieldNow(), () => after(services, run, outcome))
          )
        )
    },
    goesOn: (rest) =>
      goesOn(
        toLast(
          services,
          Effect.flatMap(rest, (outcome) => after(services, run, outcome))
        )
      ),
    died
  })
}

export const make = Effect.map(services, (all) => {
  const policyFor = makePolicies()

  const runOf = (work: Work): FailoverRun => {
    const policy = policyFor(all.settings.current(), work.resolution)
    const byPiece = isBilledByPiece(work.exchange.codec.endpoint) || work.webSearch?.isRun === true
    return new FailoverRun(all, work, byPiece ? withoutHedging(policy) : policy)
  }
  return Failover.of({
    start: (work, listener) => start(all, runOf(work), listener),
    run: (work) => effectOf((listener) => start(all, runOf(work), listener))
  })
})

export const layer: Layer.Layer<Failover, never, Effect.Effect.Context<typeof services>> = Layer.effect(Failover, make)
