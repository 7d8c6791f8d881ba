import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Fiber from "effect/Fiber"
import * as Queue from "effect/Queue"
import * as TestClock from "effect/TestClock"
import { type SessionEvent, watchSession } from "../../../../src/net/tunnels/token/SessionWatch.ts"

const limits = { graceMs: 10_000, calmMs: 2_000 }
const lost = (reason: string): SessionEvent => ({ _tag: "Lost", reason })
const heartbeat: SessionEvent = { _tag: "Heartbeat" }

const watched = Effect.gen(function* () {
  const events = yield* Queue.sliding<SessionEvent>(64)
  let back = 0
  const fiber = yield* Effect.fork(
    watchSession(
      events,
      limits,
      Effect.sync(() => void (back += 1))
    )
  )
  const happens = (event: SessionEvent) => Effect.zipRight(Queue.offer(events, event), Effect.yieldNow())
  return { happens, fiber, back: () => back, isOver: Effect.map(fiber.poll, (exit) => exit._tag === "Some") }
})

describe("the watch of a session", () => {
  it.effect("runs on while nothing is lost", () =>
    Effect.gen(function* () {
      const { happens, isOver } = yield* watched
      yield* happens(heartbeat)
      yield* TestClock.adjust("1 hour")
      assert.isFalse(yield* isOver)
    })
  )

  it.effect("gives up after the grace time, with the reason of the first loss", () =>
    Effect.gen(function* () {
      const { back, fiber, happens, isOver } = yield* watched
      yield* happens(lost("transport error"))
      yield* happens(lost("reconnect error"))
      yield* TestClock.adjust(9_999)
      assert.isFalse(yield* isOver)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* Fiber.join(fiber), "transport error")
      assert.strictEqual(back(), 0)
    })
  )

  it.effect("takes a heartbeat and calm as a session that is open again", () =>
    Effect.gen(function* () {
      const { back, happens, isOver } = yield* watched
      yield* happens(lost("transport error"))
      yield* TestClock.adjust(1_000)
      yield* happens(heartbeat)
      yield* TestClock.adjust(1_999)
      assert.strictEqual(back(), 0)
      yield* TestClock.adjust(1)
      assert.strictEqual(back(), 1)
      yield* TestClock.adjust("1 hour")
      assert.isFalse(yield* isOver)
    })
  )

  it.effect("does not take the heartbeat of a refused login for one", () =>
    Effect.gen(function* () {
      const { back, happens, isOver } = yield* watched
      yield* happens(lost("transport error"))
      for (let times = 0; times < 3; times += 1) {
        yield* happens(heartbeat)
        yield* TestClock.adjust(100)
        yield* happens(lost("reconnect error"))
        yield* TestClock.adjust(2_500)
      }
      yield* TestClock.adjust(10_000 - 3 * 2_600)
      assert.isTrue(yield* isOver)
      assert.strictEqual(back(), 0)
    })
  )
})
