/**
 * The form of the hot stations: `start(work, listener)` runs in plain callbacks as far as it can and hands over an effect where it has to
 * wait for more than one answer. Where all of it is wanted as an effect, `effectOf` makes one of it.
 */
import * as Effect from "effect/Effect"

/** One of the three is called exactly once, maybe before `start` returns. */
export interface StartListener<A> {
  readonly ended: (result: A) => void
  /** Receives the effect that has to be run to come to the end. From then on the station is cancelled by its interruption. */
  readonly goesOn: (rest: Effect.Effect<A>) => void
  /** The gateway itself is at fault. */
  readonly died: (defect: unknown) => void
}

/** Cancels what was started, without a result; without effect once it has ended or gone on. */
export type Cancel = () => void

export const effectOf = <A>(start: (listener: StartListener<A>) => Cancel): Effect.Effect<A> =>
  Effect.async((resume) => {
    let isGone = false
    const cancel = start({
      ended: (result) => resume(Effect.succeed(result)),
      goesOn: (rest) => {
        isGone = true
        resume(rest)
      },
      died: (defect) => resume(Effect.die(defect))
    })
    return Effect.sync(() => {
      if (!isGone) cancel()
    })
  })
