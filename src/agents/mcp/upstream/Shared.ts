/** Work that all who ask for it at the same time share. Who stops waiting does not end it for the others. */
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as FiberId from "effect/FiberId"
import type * as Scope from "effect/Scope"

/** Runs in a fiber of the scope; begun anew by the first who asks after its end, however it ended. */
export const shared = <A, E>(work: Effect.Effect<A, E>, scope: Scope.Scope): Effect.Effect<A, E> => {
  let running: Deferred.Deferred<A, E> | null = null
  return Effect.suspend(() => {
    if (running !== null) return Deferred.await(running)
    const result = Deferred.unsafeMake<A, E>(FiberId.none)
    running = result
    const ending = Effect.onExit(Effect.interruptible(work), (exit) => {
      running = null
      return Deferred.done(result, exit)
    })
    return Effect.uninterruptibleMask((restore) =>
      Effect.zipRight(Effect.forkIn(ending, scope), restore(Deferred.await(result)))
    )
  })
}
