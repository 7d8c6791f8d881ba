/** A layer with the members of a service that a test needs. What is left out is missing: a call of it fails the test. */
import type * as Context from "effect/Context"
import * as Layer from "effect/Layer"

type PartOf<A> = {
  readonly [K in keyof A]?: A[K] extends (...args: infer P) => infer R ? (...args: P) => Loose<R> : Loose<A[K]>
}
type Loose<A> = A extends object ? A | PartOf<A> : A

export const mocked = <I, S extends object>(tag: Context.Tag<I, S>, members: PartOf<S>): Layer.Layer<I> =>
  Layer.succeed(tag, members as S)
