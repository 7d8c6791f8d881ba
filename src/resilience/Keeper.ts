/**
 * Writes changed state to the store: at once when somebody waits for it, otherwise shortly after, many changes in one go. What
 * cannot be written stays marked and is tried again with the next change.
 */
import * as Cause from "effect/Cause"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import type { StoreError } from "../store/Errors.ts"

export interface Keeper {
  /** Hot: marks a key as changed. */
  readonly touch: (key: string) => void
  /** Done when everything marked before is in the store, or could not be written (which is logged). */
  readonly flush: Effect.Effect<void>
}

export const makeKeeper = (
  what: string,
  write: (key: string) => Effect.Effect<void, StoreError>
): Effect.Effect<Keeper, never, Scope.Scope> =>
  Effect.gen(function* () {
    const changed = new Set<string>()
    const someChange = yield* Effect.makeLatch(false)
    const oneAtATime = yield* Effect.makeSemaphore(1)

    const writeAll = Effect.suspend(() => {
      const keys = [...changed]
      changed.clear()
      someChange.unsafeClose()
      return Effect.forEach(
        keys,
        (key) =>
          Effect.catchAllCause(write(key), (cause) => {
            changed.add(key)
            return Cause.isInterruptedOnly(cause)
              ? Effect.void
              : Effect.logError(`${what} of ${key} is not stored`, cause)
          }),
        { discard: true }
      )
    })
    const flush = Effect.suspend(() => (changed.size === 0 ? Effect.void : oneAtATime.withPermits(1)(writeAll)))

    yield* someChange.await.pipe(Effect.zipRight(flush), Effect.forever, Effect.forkScoped)
    yield* Effect.addFinalizer(() => flush)
    return {
      touch: (key) => {
        changed.add(key)
        someChange.unsafeOpen()
      },
      flush
    }
  })
