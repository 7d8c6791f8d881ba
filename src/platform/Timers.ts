/**
 * Native timers and the wall clock for the request path, where an Effect per timer would cost more than the work it guards.
 * Everything else uses Effect's `Clock` and `Schedule`. Tests may swap the layer.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

export interface Timer {
  /** Starts the delay again from now. */
  readonly restart: () => void
  readonly cancel: () => void
}

export class Timers extends Context.Tag("gateway/platform/Timers")<
  Timers,
  {
    /** Epoch milliseconds. */
    readonly nowMs: () => number
    /** Milliseconds from an arbitrary start that never go back; for durations. */
    readonly monotonicMs: () => number
    readonly after: (delayMs: number, run: () => void) => Timer
    /** Runs when the event loop has handled the input that is ready now. */
    readonly soon: (run: () => void) => void
  }
>() {}

export const make = Timers.of({
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, run) => {
    const timer = setTimeout(run, delayMs)
    return { restart: () => timer.refresh(), cancel: () => clearTimeout(timer) }
  },
  soon: (run) => {
    setImmediate(run)
  }
})

export const layer: Layer.Layer<Timers> = Layer.succeed(Timers, make)
