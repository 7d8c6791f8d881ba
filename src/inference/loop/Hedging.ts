/** A second target is asked too when the first has not begun to answer in time; the first answer wins. */
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Option from "effect/Option"
import type { Release } from "../../resilience/ConcurrencyGate.ts"
import type { Place } from "../../resilience/ConnectionDoor.ts"
import type { Target } from "../../routing/ModelResolver.ts"
import { type Contender, makeContest } from "../Contest.ts"
import type { BeginCall } from "./Calling.ts"
import { type Outcome, type Round, tookFailure, type Turn } from "./Round.ts"

export interface HedgingRooms {
  readonly begin: BeginCall
  readonly isOpen: (round: Round, target: Target) => boolean
  readonly placeAt: (round: Round, target: Target) => Place
}

const isSettled = (outcome: Outcome | null): boolean =>
  outcome !== null && !outcome.lost && outcome.result._tag !== "Failed"

const none: Effect.Effect<Outcome | null> = Effect.succeed(null)

export const makeHedging = ({ begin, isOpen, placeAt }: HedgingRooms) => {
  const alone = (round: Round, turn: Turn, release: Release, contender: Contender): Effect.Effect<Outcome | null> =>
    Effect.suspend(
      (): Effect.Effect<Outcome | null> => begin(round, turn, contender, release, Effect.succeed<Outcome>) ?? none
    )

  /** Null when the target may not be called after all. */
  return (round: Round, turn: Turn, release: Release, delayMs: number): Effect.Effect<Outcome | null> =>
    Effect.gen(function* () {
      const { order } = round.work.decision
      const contest = makeContest(round.work.exchange.reply)
      const first = yield* Effect.fork(alone(round, turn, release, contest.enter()))
      const early = yield* Effect.timeoutOption(Fiber.join(first), delayMs)
      if (Option.isSome(early)) return early.value
      const index = order.findIndex((target, at) => at > turn.index && isOpen(round, target))
      const target = order[index]
      const place = target === undefined ? null : placeAt(round, target)
      if (target === undefined || place?._tag !== "Free") return yield* Fiber.join(first)
      const second = yield* Effect.fork(alone(round, { target, index, retries: 0 }, place.release, contest.enter()))
      const one = yield* Effect.raceFirst(Fiber.join(first), Fiber.join(second))
      if (isSettled(one)) {
        yield* Effect.zipRight(Fiber.interrupt(first), Fiber.interrupt(second))
        return one
      }
      if (one?.failure != null) tookFailure(round, one.turn.target, one.failure)
      const rest = yield* Fiber.join(one?.turn.index === index ? first : second)
      // Both are behind us: what comes next comes after the later one.
      return rest === null ? null : { ...rest, turn: { ...rest.turn, index: Math.max(turn.index, index) } }
    })
}
