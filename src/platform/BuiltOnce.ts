/**
 * Services that are loaded and built by their first use, in the scope of whoever asks for the way to them: a gateway that does not use them has
 * neither their code nor their memory, timers or threads.
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"

/** Loads what builds the services; `R` is what it works on. */
export type Load<A, R> = () => Promise<Effect.Effect<A, never, R | Scope.Scope>>

export interface BuiltOnce<A> {
  /** Builds them by the first use, once however many ask at the same time; a defect where that fails. */
  readonly get: Effect.Effect<A>
  /** Hot: null until they are built. */
  readonly current: () => A | null
}

export const make = Effect.fnUntraced(function* <A, R>(load: Load<A, R>) {
  const context = yield* Effect.context<R>()
  const scope = yield* Effect.scope
  const lock = yield* Effect.makeSemaphore(1)
  let built: A | null = null

  const build = Effect.suspend(() => {
    if (built !== null) return Effect.succeed(built)
    return Effect.promise(load).pipe(
      Effect.flatMap((building) => Effect.provide(Scope.extend(building, scope), context)),
      Effect.tap((made) =>
        Effect.sync(() => {
          built = made
        })
      ),
      Effect.uninterruptible
    )
  })
  const once: BuiltOnce<A> = {
    get: Effect.suspend(() => (built === null ? lock.withPermits(1)(build) : Effect.succeed(built))),
    current: () => built
  }
  return once
})
