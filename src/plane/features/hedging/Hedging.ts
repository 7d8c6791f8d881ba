/** A second target is asked too when the first has not begun to answer in time; the first answer wins. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { AttemptEvents } from "../../failover/AttemptEvents.ts"
import { CallRunner } from "../../failover/CallRunner.ts"
import type { Contender } from "../../failover/Contender.ts"
import type { AskStep, FailoverRun, Outcome } from "../../failover/FailoverRun.ts"
import { Hedge, type HedgedCall } from "../../failover/Hedge.ts"
import { effectOf } from "../../request/Start.ts"
import { makeHedgeRace } from "./HedgeRace.ts"

const isSettled = ({ lost, result }: Outcome): boolean => !lost && result._tag !== "Failed"

/** A call that has lost sees that its client left, and ends at once; what else it waits for is broken off after this time. */
const loserEndsMs = 100

export const make = Effect.gen(function* () {
  const attemptEvents = yield* AttemptEvents
  const calls = yield* CallRunner

  /** Charges the slower call. */
  const charge = (run: FailoverRun, loser: Fiber.Fiber<Outcome>): Effect.Effect<void> =>
    Effect.flatMap(Effect.timeoutOption(Fiber.join(loser), loserEndsMs), (ended) => {
      if (Option.isNone(ended)) return Effect.asVoid(Fiber.interrupt(loser))
      const { result, turn } = ended.value
      attemptEvents.failed(run, ended.value, false)
      if (result._tag !== "Failed" && result.report !== null) {
        const { firstContentMs, report } = result
        run.work.trail.charge({ target: turn.target, report, firstContentMs })
      }
      return Effect.void
    })

  const alone = (run: FailoverRun, step: AskStep, contender: Contender): Effect.Effect<Outcome> =>
    effectOf((listener) => calls.start(run, step, contender, listener))

  const hedged: HedgedCall = (run, step, delayMs) =>
    Effect.gen(function* () {
      const race = makeHedgeRace(run.work.exchange.reply)
      const ofFirst = race.enter()
      const first = yield* Effect.fork(alone(run, step, ofFirst))
      const early = yield* Effect.timeoutOption(Fiber.join(first), delayMs)
      if (Option.isSome(early)) return early.value
      const due = run.walk.hedgeDue(step.turn)
      if (due._tag !== "Ask") return yield* Fiber.join(first)
      const ofSecond = race.enter()
      const second = yield* Effect.fork(alone(run, due, ofSecond))
      const one = yield* Effect.raceFirst(Fiber.join(first), Fiber.join(second))
      if (isSettled(one)) {
        const isFirst = one.turn.index !== due.turn.index
        race.won(isFirst ? ofFirst : ofSecond)
        yield* charge(run, isFirst ? second : first)
        return one
      }
      if (one.refusal !== null) run.walk.refused(one.turn, one.refusal)
      if (one.failure !== null) {
        run.walk.failed(one.turn, one.failure)
        attemptEvents.failed(run, one, true)
      }
      return yield* Fiber.join(one.turn.index === due.turn.index ? first : second)
    })

  return hedged
})

export const layer: Layer.Layer<Hedge, never, AttemptEvents | CallRunner> = Layer.effect(Hedge, make)
