/** What the tests of a file share, where they do not touch each other: made once before the first of them, and closed after the last. */
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Scope from "effect/Scope"
import { afterAll, beforeAll } from "vitest"

/** Gives what was made; only tests may ask. */
export const shared = <A, E>(make: Effect.Effect<A, E, Scope.Scope>): (() => A) => {
  const scope = Effect.runSync(Scope.make())
  let made: { readonly value: A } | null = null
  beforeAll(async () => {
    made = { value: await Effect.runPromise(Scope.extend(make, scope)) }
  })
  afterAll(() => Effect.runPromise(Scope.close(scope, Exit.void)))
  return () => {
    if (made === null) throw new Error("It is made before the tests, and only they may ask for it.")
    return made.value
  }
}
