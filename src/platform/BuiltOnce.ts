/**
 * Services that are loaded and built by their first use, in the scope in which `make` is run: a gateway that does not use them has
 * neither their code nor their memory, timers or threads.
 */
import * as Effect from "effect/Effect"
import * as Scope from "effect/Scope"
import { makeLane } from "../kernel/Lane.ts"

/** Loads what builds the services; `R` is what it works on. */
export type Load<A, R, E = never> = () => Promise<Effect.Effect<A, E, R | Scope.Scope>>

export interface BuiltOnce<A, E = never> {
  /** Builds them by the first use, once however many ask at the same time, and again after a failure; a defect where they cannot be loaded. */
  readonly get: Effect.Effect<A, E>
  /** Hot: null until they are built. */
  readonly current: () => A | null
}

export const make = Effect.fnUntraced(function* <A, R, E = never>(load: Load<A, R, E>) {
  const context = yield* Effect.context<R>()
  const scope = yield* Effect.scope
  const lock = makeLane(1)
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
  const once: BuiltOnce<A, E> = {
    get: Effect.suspend(() => (built === null ? lock.inTurn(build) : Effect.succeed(built))),
    current: () => built
  }
  return once
})
