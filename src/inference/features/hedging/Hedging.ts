/** A second target is asked too when the first has not begun to answer in time; the first answer wins. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import { CallRunner } from "../../failover/CallRunner.ts"
import type { Contender } from "../../failover/Contender.ts"
import type { AskStep, FailoverRun, Outcome } from "../../failover/FailoverRun.ts"
import { Hedge, type HedgedCall } from "../../failover/Hedge.ts"
import { makeHedgeRace } from "./HedgeRace.ts"

const isSettled = ({ lost, result }: Outcome): boolean => !lost && result._tag !== "Failed"

export const make = Effect.gen(function* () {
  const calls = yield* CallRunner

  const alone = (run: FailoverRun, step: AskStep, contender: Contender): Effect.Effect<Outcome> =>
    Effect.suspend(() => calls.run(run, step, contender, Effect.succeed<Outcome>))

  const hedged: HedgedCall = (run, step, delayMs) =>
    Effect.gen(function* () {
      const race = makeHedgeRace(run.work.exchange.reply)
      const first = yield* Effect.fork(alone(run, step, race.enter()))
      const early = yield* Effect.timeoutOption(Fiber.join(first), delayMs)
      if (Option.isSome(early)) return early.value
      const due = run.walk.hedgeDue(step.turn)
      if (due._tag !== "Ask") return yield* Fiber.join(first)
      const second = yield* Effect.fork(alone(run, due, race.enter()))
      const one = yield* Effect.raceFirst(Fiber.join(first), Fiber.join(second))
      if (isSettled(one)) {
        yield* Effect.zipRight(Fiber.interrupt(first), Fiber.interrupt(second))
        return one
      }
      if (one.failure !== null) run.walk.failed(one.turn, one.failure)
      return yield* Fiber.join(one.turn.index === due.turn.index ? first : second)
    })

  return hedged
})

export const layer: Layer.Layer<Hedge, never, CallRunner> = Layer.effect(Hedge, make)
