/** Counts the calls of a sandbox, so that it is not closed while they are judged. */
import * as Effect from "effect/Effect"

/** Calls of one sandbox that are in progress. */
export interface RunningCalls {
  readonly counted: <A>(call: Effect.Effect<A>) => Effect.Effect<A>
  /** Waits until there are none, or at the latest for the time that one may take. */
  readonly none: (withinMs: number) => Effect.Effect<void>
}

export const makeRunningCalls = (): RunningCalls => {
  const waiting = new Set<() => void>()
  let count = 0
  const ended = Effect.sync(() => {
    count -= 1
    if (count === 0) for (const resume of waiting) resume()
  })
  return {
    counted: (call) =>
      Effect.suspend(() => {
        count += 1
        return Effect.ensuring(call, ended)
      }),
    none: (withinMs) =>
      Effect.async<void>((resume) => {
        if (count === 0) return resume(Effect.void)
        const listener = (): void => resume(Effect.void)
        waiting.add(listener)
        return Effect.sync(() => void waiting.delete(listener))
      }).pipe(
        Effect.interruptible,
        Effect.timeoutTo({ duration: withinMs, onSuccess: () => undefined, onTimeout: () => undefined })
      )
  }
}
