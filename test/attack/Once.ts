/** What the attempts of an arena share is made by the first of them. */
import type { Arena } from "./Arena.ts"

export const once = <A, Args extends ReadonlyArray<string>>(
  make: (arena: Arena, ...args: Args) => Promise<A>
): ((arena: Arena, ...args: Args) => Promise<A>) => {
  const made = new WeakMap<Arena, Map<string, Promise<A>>>()
  return (arena, ...args) => {
    const known = made.get(arena) ?? new Map<string, Promise<A>>()
    made.set(arena, known)
    const name = args.join(" ")
    const promise = known.get(name) ?? make(arena, ...args)
    known.set(name, promise)
    return promise
  }
}
