import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as TestClock from "effect/TestClock"
import * as TestTimers from "../../support/TestTimers.ts"

describe("timers over the TestClock", () => {
  it.effect("fire when the clock passes their time, in its order", () =>
    Effect.gen(function* () {
      const timers = yield* TestTimers.make
      const fired: Array<readonly [name: string, nowMs: number]> = []
      timers.after(200, () => fired.push(["second", timers.nowMs()]))
      timers.after(100, () => fired.push(["first", timers.monotonicMs()]))
      assert.strictEqual(timers.live(), 2)
      yield* TestClock.adjust(99)
      assert.deepStrictEqual(fired, [])
      yield* TestClock.adjust(1)
      assert.deepStrictEqual(fired, [["first", 100]])
      yield* TestClock.adjust(500)
      assert.deepStrictEqual(
        fired.map(([name]) => name),
        ["first", "second"]
      )
      assert.strictEqual(timers.live(), 0)
    })
  )

  it.effect("start again from now, also after they have fired, and not after cancel", () =>
    Effect.gen(function* () {
      const timers = yield* TestTimers.make
      let fired = 0
      const timer = timers.after(100, () => (fired += 1))
      yield* TestClock.adjust(60)
      timer.restart()
      yield* TestClock.adjust(60)
      assert.strictEqual(fired, 0)
      yield* TestClock.adjust(40)
      assert.strictEqual(fired, 1)
      timer.restart()
      assert.strictEqual(timers.live(), 1)
      timer.cancel()
      timer.restart()
      yield* TestClock.adjust(1_000)
      assert.deepStrictEqual([fired, timers.live()], [1, 0])
    })
  )
})
