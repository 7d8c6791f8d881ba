/** Runs a panel: calls all members at once, and makes the remaining ones end when the panel closes. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import { closesAtMs, memberEnded, openPanel, type PanelRules } from "./Panel.ts"

export interface PanelCall<A> {
  readonly run: Effect.Effect<A>
  /** Makes `run` end soon. */
  readonly leave: () => void
}

/**
 * Runs all members and returns their ends, in their order. Every `run` comes to its own end: none is interrupted
 * halfway.
 */
export const runPanel = <A>(
  seats: ReadonlyArray<PanelCall<A>>,
  rules: PanelRules,
  hasAnswer: (end: A) => boolean
): Effect.Effect<ReadonlyArray<A>> =>
  Effect.gen(function* () {
    let panel = openPanel(seats.length, yield* Clock.currentTimeMillis)
    const news = yield* Queue.unbounded<void>()

    const close = Effect.gen(function* () {
      for (;;) {
        const restMs = closesAtMs(panel, rules) - (yield* Clock.currentTimeMillis)
        if (restMs <= 0) break
        yield* Effect.raceFirst(Effect.sleep(restMs), Queue.take(news))
      }
      for (const seat of seats) seat.leave()
    })

    const sit = (seat: PanelCall<A>): Effect.Effect<A> =>
      Effect.tap(seat.run, (end) =>
        Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
          panel = memberEnded(panel, rules, hasAnswer(end), nowMs)
          return Queue.offer(news, undefined)
        })
      )

    const closing = yield* Effect.fork(close)
    const ends = yield* Effect.forEach(seats, sit, { concurrency: "unbounded" })
    yield* Fiber.interrupt(closing)
    return ends
  })
