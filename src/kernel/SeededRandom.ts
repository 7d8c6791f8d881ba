/** Random numbers from a seed: the same seed gives the same numbers, so that a decision can be reproduced. */
export interface SeededRandom {
  /** Returns the next number in [0, 1). */
  readonly next: () => number
  /** A whole number in [0, below). */
  readonly below: (below: number) => number
  /** The items in a random order, as a new array. */
  readonly shuffle: <A>(items: ReadonlyArray<A>) => ReadonlyArray<A>
}

/** `seed`: any whole number; its low 32 bits count. */
export const makeSeededRandom = (seed: number): SeededRandom => {
  let state = seed >>> 0
  // A counter through an avalanche (the finaliser of MurmurHash3): every bit of the seed reaches every bit of the result.
  const next = (): number => {
    state = (state + 0x9e3779b9) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b)
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35)
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 4_294_967_296
  }
  const below = (limit: number): number => Math.floor(next() * limit)
  const shuffle = <A>(items: ReadonlyArray<A>): ReadonlyArray<A> => {
    const result = [...items]
    for (let last = result.length - 1; last > 0; last -= 1) {
      const other = below(last + 1)
      const [one, two] = [result[last], result[other]]
      if (one === undefined || two === undefined) continue
      result[last] = two
      result[other] = one
    }
    return result
  }
  return { next, below, shuffle }
}
