/** What is said while the service stops, on the test clock and with signals that are told rather than sent. */
import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as TestClock from "effect/TestClock"
import { EventEmitter } from "node:events"
import * as Stopping from "../../../src/app/Stopping.ts"
import * as HouseLogger from "../../../src/observe/usage/telemetry/GatewayLogger.ts"

const setUp = (running: number, drainMs: number) =>
  Effect.gen(function* () {
    const signals = new EventEmitter()
    const lines: Array<string> = []
    const exits: Array<number> = []
    const state = { running }
    const stopping = Stopping.make({
      on: (signal, listener) => signals.on(signal, listener),
      off: (signal, listener) => signals.off(signal, listener),
      exit: (code) => void exits.push(code)
    })
    const drained = yield* Deferred.make<void>()
    stopping.listens({ inFlight: () => state.running, drainMs })
    const logger = HouseLogger.make({ format: "text", colours: false }, (line) => lines.push(line.slice(9)))
    const fiber = yield* Effect.fork(
      Deferred.await(drained).pipe(stopping.announced, Effect.provide(HouseLogger.layer(logger, "info")))
    )
    yield* Effect.yieldNow()
    const signal = (name: string) =>
      Effect.zipRight(
        TestClock.adjust(0),
        Effect.sync(() => signals.emit(name, name))
      )
    const stopped = Effect.zipRight(Deferred.succeed(drained, undefined), Fiber.join(fiber))
    return { exits, lines, signal, signals, state, stopped }
  })

describe("a stop", () => {
  it.effect("says that it begins and that it is over", () =>
    Effect.gen(function* () {
      const { exits, lines, signal, signals, stopped } = yield* setUp(0, 10_000)
      yield* signal("SIGTERM")
      yield* stopped
      assert.deepStrictEqual(lines, ["Stopping (SIGTERM): no request is running.", "Stopped."])
      assert.deepStrictEqual(exits, [])
      assert.strictEqual(signals.listenerCount("SIGTERM") + signals.listenerCount("SIGINT"), 0)
    })
  )

  it.effect("tells from time to time how many requests are left, and when the time is over", () =>
    Effect.gen(function* () {
      const { lines, signal, state, stopped } = yield* setUp(3, 8_000)
      yield* signal("SIGINT")
      yield* TestClock.adjust(3_000)
      state.running = 2
      yield* TestClock.adjust(3_000)
      state.running = 1
      yield* TestClock.adjust(2_000)
      yield* stopped
      assert.deepStrictEqual(lines, [
        "Stopping (SIGINT): 3 requests running, waiting up to 8 s for them; Ctrl-C again stops at once.",
        "Stopping: 3 requests still running, 5 s left.",
        "Stopping: 2 requests still running, 2 s left.",
        "Stopping: the time is over, 1 request ends with an error.",
        "Stopped."
      ])
    })
  )

  it.effect("ends the process when what is left to be written takes too long", () =>
    Effect.gen(function* () {
      const { exits, lines, signal } = yield* setUp(0, 10_000)
      yield* signal("SIGTERM")
      yield* TestClock.adjust(10_000 + Stopping.endsWithinMs - 1)
      assert.deepStrictEqual(exits, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(exits, [1])
      assert.include(lines.at(-1), "Stopped before all was written")
    })
  )

  it.effect("is at once after a second signal, but not when one Ctrl-C comes twice", () =>
    Effect.gen(function* () {
      const { exits, lines, signal } = yield* setUp(2, 10_000)
      yield* signal("SIGINT")
      yield* TestClock.adjust(Stopping.sameWishMs - 1)
      yield* signal("SIGINT")
      assert.deepStrictEqual(exits, [])
      yield* TestClock.adjust(1)
      yield* signal("SIGINT")
      assert.deepStrictEqual(exits, [130])
      assert.strictEqual(lines.at(-1), "Stopped at once (SIGINT): 2 requests cut off.")
    })
  )
})
