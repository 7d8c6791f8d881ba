/** Does the work on an answer in its order: a little of it at once, the rest between other work of the event loop. */
import { Listeners } from "../../../../kernel/collections/Listeners.ts"
import type { Steps } from "./Steps.ts"

export interface Pace {
  /** Does the work behind all that was given before, and calls `done` with what came of it. True: it was done at once. */
  readonly run: <A>(work: () => Steps<A>, done: (made: A) => void) => boolean
  /** Calls the listener when all work is done that could not be done at once. */
  readonly onCaughtUp: (listener: () => void) => () => void
}

/** Steps that are done in one turn of the event loop. Each takes some milliseconds at most. */
const stepsAtOnce = 2

export const makePace = (later: (run: () => void) => void): Pace => {
  /** Each does a turn of its work; true: that was the last. */
  const waiting: Array<() => boolean> = []
  const caughtUp = new Listeners()

  const turn = (): void => {
    const [first] = waiting
    if (first?.() === true) waiting.shift()
    if (waiting.length > 0) return later(turn)
    caughtUp.tell()
  }

  return {
    run: (work, done) => {
      let steps: ReturnType<typeof work> | null = null
      const some = (): boolean => {
        steps ??= work()
        for (let at = 0; at < stepsAtOnce; at += 1) {
          const next = steps.next()
          if (next.done !== true) continue
          done(next.value)
          return true
        }
        return false
      }
      if (waiting.length === 0 && some()) return true
      waiting.push(some)
      if (waiting.length === 1) later(turn)
      return false
    },
    onCaughtUp: (listener) => caughtUp.add(listener)
  }
}
