import { assert, describe, it } from "@effect/vitest"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import { effectOf, type StartListener } from "../../../../src/plane/request/Start.ts"

describe("a hot station as an effect", () => {
  it.effect("ends with its result, also where that is there at once", () =>
    Effect.gen(function* () {
      const result = yield* effectOf<string>(({ ended }) => {
        ended("done")
        return () => assert.fail("cancelled")
      })
      assert.strictEqual(result, "done")
    })
  )

  it.effect("goes on with the effect that it hands over", () =>
    Effect.gen(function* () {
      const result = yield* effectOf<string>(({ goesOn }) => {
        goesOn(Effect.as(Effect.yieldNow(), "later"))
        return () => assert.fail("cancelled")
      })
      assert.strictEqual(result, "later")
    })
  )

  it.effect("dies of what the gateway is at fault for", () =>
    Effect.gen(function* () {
      const exit = yield* Effect.exit(
        effectOf<string>(({ died }) => {
          died("a fault")
          return () => {}
        })
      )
      assert.deepStrictEqual(exit, Exit.die("a fault"))
    })
  )

  it.effect("is cancelled by its interruption, once", () =>
    Effect.gen(function* () {
      let cancelled = 0
      const fiber = yield* Effect.fork(
        effectOf<string>(() => () => {
          cancelled += 1
        })
      )
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      assert.strictEqual(cancelled, 1)
    })
  )

  it.effect("is not cancelled once it goes on: then the effect is interrupted", () =>
    Effect.gen(function* () {
      const seen: Array<string> = []
      let listener: StartListener<string> | null = null
      const fiber = yield* Effect.fork(
        effectOf<string>((told) => {
          listener = told
          return () => seen.push("cancelled")
        })
      )
      yield* Effect.yieldNow()
      const told = listener as StartListener<string> | null
      told?.goesOn(Effect.onInterrupt(Effect.never, () => Effect.sync(() => seen.push("interrupted"))))
      yield* Effect.yieldNow()
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(seen, ["interrupted"])
    })
  )
})
