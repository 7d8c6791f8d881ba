/**
 * A value that comes in a later turn. Hot functions answer `A | Later<A>`: at once where they can, without an allocation, and by one of these
 * where they have to ask another process. Plain and synchronous; it does not fail.
 */
import * as Effect from "effect/Effect"

type Take<A> = (value: A) => void

export class Later<A> {
  #takers: Array<Take<A>> | null = []
  #value: { readonly value: A } | null = null

  /** Gives the value; a second one is ignored. */
  give(value: A): void {
    const takers = this.#takers
    if (takers === null) return
    this.#takers = null
    this.#value = { value }
    for (const take of takers) take(value)
  }

  /** Calls `take` with the value when it is there, maybe before this returns. */
  whenKnown(take: Take<A>): void {
    if (this.#value !== null) take(this.#value.value)
    else this.#takers?.push(take)
  }

  map<B>(change: (value: A) => B): Later<B> {
    const changed = new Later<B>()
    this.whenKnown((value) => changed.give(change(value)))
    return changed
  }
}

/** The value as an effect. `unwanted` takes a value that comes after the interruption. */
export const settled = <A>(value: A | Later<A>, unwanted?: (value: A) => void): Effect.Effect<A> => {
  if (!(value instanceof Later)) return Effect.succeed(value)
  return Effect.async((resume) => {
    let isWanted = true
    value.whenKnown((known) => (isWanted ? resume(Effect.succeed(known)) : unwanted?.(known)))
    return Effect.sync(() => {
      isWanted = false
    })
  })
}
