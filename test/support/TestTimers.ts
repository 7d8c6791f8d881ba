/** Timers that follow Effect's clock. In a test with the `TestClock` they fire when `TestClock.adjust` passes their time. */
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import { type Timer, Timers } from "../../src/platform/Timers.ts"

export const make = Effect.gen(function* () {
  const clock = yield* Effect.clock
  const fork = Runtime.runFork(yield* Effect.runtime<never>())
  let live = 0

  const after = (delayMs: number, run: () => void): Timer => {
    let waiting: Fiber.RuntimeFiber<void> | null = null
    let isCancelled = false
    const stop = (): void => {
      if (waiting === null) return
      live -= 1
      waiting.unsafeInterruptAsFork(waiting.id())
      waiting = null
    }
    const start = (): void => {
      live += 1
      const due = Effect.sync(() => {
        live -= 1
        waiting = null
        run()
      })
      waiting = fork(Effect.zipRight(Clock.sleep(delayMs), due))
    }
    start()
    return {
      restart: () => {
        if (isCancelled) return
        stop()
        start()
      },
      cancel: () => {
        isCancelled = true
        stop()
      }
    }
  }

  return Timers.of({
    nowMs: () => clock.unsafeCurrentTimeMillis(),
    monotonicMs: () => Number(clock.unsafeCurrentTimeNanos()) / 1e6,
    after,
    soon: (run) => void setImmediate(run),
    live: () => live
  })
})

export const layer: Layer.Layer<Timers> = Layer.effect(Timers, make)
