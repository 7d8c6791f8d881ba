/**
 * Native timers and the wall clock for the request path, where an Effect per timer would cost more than the work it guards.
 * Everything else uses Effect's `Clock` and `Schedule`. Tests of layers use `test/support/TestTimers.ts`.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"

export interface Timer {
  /** Starts the delay again from now, also when it is over; nothing after `cancel`. */
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
    /** Timers of `after` that will still run. */
    readonly live: () => number
  }
>() {}

let live = 0

/**
 * A class, because several are made per request. A due timer runs after the input that is ready: when the process was blocked for a
 * while, an answer that is already in the socket must not be treated as a timeout.
 */
class NativeTimer implements Timer {
  readonly #run: () => void
  readonly #native: NodeJS.Timeout
  #turn: NodeJS.Immediate | undefined
  #isLive = true
  #isCancelled = false

  constructor(delayMs: number, run: () => void) {
    this.#run = run
    live += 1
    this.#native = setTimeout(NativeTimer.#due, delayMs, this)
  }

  static #due(timer: NativeTimer): void {
    timer.#turn = setImmediate(NativeTimer.#fire, timer)
  }

  static #fire(timer: NativeTimer): void {
    timer.#over()
    timer.#run()
  }

  #over(): void {
    clearImmediate(this.#turn)
    this.#turn = undefined
    if (this.#isLive) live -= 1
    this.#isLive = false
  }

  restart(): void {
    if (this.#isCancelled) return
    this.#over()
    this.#isLive = true
    live += 1
    this.#native.refresh()
  }

  cancel(): void {
    this.#isCancelled = true
    this.#over()
    clearTimeout(this.#native)
  }
}

export const make = Timers.of({
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after: (delayMs, run) => new NativeTimer(delayMs, run),
  soon: (run) => {
    setImmediate(run)
  },
  live: () => live
})

export const layer: Layer.Layer<Timers> = Layer.succeed(Timers, make)
