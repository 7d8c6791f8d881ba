import { assert, describe, it } from "@effect/vitest"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Scope from "effect/Scope"
import * as TestClock from "effect/TestClock"
import { forAtMost } from "../../../src/kernel/time/AtMost.ts"

const closedBy = (ending: Effect.Effect<unknown, string>) =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    yield* Scope.addFinalizer(scope, forAtMost("2 seconds")(ending))
    return yield* Effect.fork(Scope.close(scope, Exit.void))
  })

describe("an effect of a finalizer that may take so long at most", () => {
  it.effect("is interrupted when its time is over", () =>
    Effect.gen(function* () {
      const interrupted = yield* Deferred.make<void>()
      const closing = yield* closedBy(Effect.onInterrupt(Effect.never, () => Deferred.succeed(interrupted, undefined)))
      yield* TestClock.adjust("1999 millis")
      assert.isNull(closing.unsafePoll())
      yield* TestClock.adjust("1 millis")
      yield* Fiber.join(closing)
      yield* Deferred.await(interrupted)
    })
  )

  it.effect("goes on behind the end where it cannot be interrupted", () =>
    Effect.gen(function* () {
      const goOn = yield* Deferred.make<void>()
      const isDone = yield* Deferred.make<void>()
      const closing = yield* closedBy(
        Effect.uninterruptible(Effect.zipRight(Deferred.await(goOn), Deferred.succeed(isDone, undefined)))
      )
      yield* TestClock.adjust("2 seconds")
      yield* Fiber.join(closing)
      assert.isFalse(yield* Deferred.isDone(isDone))
      yield* Deferred.succeed(goOn, undefined)
      yield* Deferred.await(isDone)
    })
  )

  it.effect("ends the finalizer as soon as it is done, also by failing", () =>
    Effect.gen(function* () {
      yield* Fiber.join(yield* closedBy(Effect.fail("lost")))
      yield* Fiber.join(yield* closedBy(Effect.succeed(1)))
    })
  )
})
