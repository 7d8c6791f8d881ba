/** Bounds what is done at an end. */
import type * as Duration from "effect/Duration"
import * as Effect from "effect/Effect"

/**
 * Runs an effect for so long at most, and whatever becomes of it: for finalizers, which cannot be interrupted, so that a timeout alone would wait.
 * An effect that is uninterruptible itself goes on in the background.
 */
export const forAtMost =
  (duration: Duration.DurationInput) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<void, never, R> =>
    effect.pipe(Effect.disconnect, Effect.interruptible, Effect.timeout(duration), Effect.ignore)
