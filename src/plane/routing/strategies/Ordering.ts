/** Small tools that the strategies share: putting candidates in order, and telling how. Pure; nothing given is changed. */
import type { Candidate } from "../candidate/Candidate.ts"
import { byStrategy, firstInOrder, onlyTarget } from "../candidate/Reason.ts"
import type { Ordering, Score, StrategyMemory } from "../candidate/Strategy.ts"

/** An ordering with the strategy's words for it. Where no other could have been first, that is the reason. */
export const ordering = (order: ReadonlyArray<Candidate>, words: string, memory: StrategyMemory): Ordering => ({
  order,
  reason: order.length === 1 ? onlyTarget : byStrategy(words),
  memory
})

/** The order of the combo's targets. */
export const asListed = (order: ReadonlyArray<Candidate>, memory: StrategyMemory): Ordering => ({
  order,
  reason: order.length === 1 ? onlyTarget : firstInOrder,
  memory
})

/** The items with one of them in front; the others keep their order. */
export const inFront = <A>(items: ReadonlyArray<A>, index: number): ReadonlyArray<A> => {
  const first = items[index]
  if (first === undefined) return items
  const order = items.slice()
  for (let at = index; at > 0; at -= 1) order[at] = items[at - 1] ?? first
  order[0] = first
  return order
}

/** The items from one on, and then those before it. */
export const from = <A>(items: ReadonlyArray<A>, index: number): ReadonlyArray<A> => [
  ...items.slice(index),
  ...items.slice(0, index)
]

export interface Measured {
  readonly candidate: Candidate
  readonly measures: ReadonlyArray<number>
}

const compare = (one: Measured, other: Measured): number => {
  for (let index = 0; index < one.measures.length; index += 1) {
    const mine = one.measures[index] ?? 0
    const theirs = other.measures[index] ?? 0
    // No subtraction: two infinities are equal.
    if (mine !== theirs) return mine < theirs ? -1 : 1
  }
  return 0
}

/** Least first, by the first measure in which two differ; equals keep the order of the combo's targets. */
export const ranked = (
  candidates: ReadonlyArray<Candidate>,
  measure: (candidate: Candidate) => ReadonlyArray<number>
): ReadonlyArray<Measured> =>
  candidates.map((candidate): Measured => ({ candidate, measures: measure(candidate) })).sort(compare)

/**
 * The first `tied` of a ranking take turns, in the order of the combo's targets; the others follow as they were ranked.
 * A turn is taken only where there are others to take turns with.
 */
export const takingTurns = (
  candidates: ReadonlyArray<Candidate>,
  ranking: ReadonlyArray<Measured>,
  tied: number,
  memory: StrategyMemory
): { readonly order: ReadonlyArray<Candidate>; readonly memory: StrategyMemory } => {
  const order = ranking.map(({ candidate }) => candidate)
  if (tied < 2) return { order, memory }
  const leaders = new Set(order.slice(0, tied))
  const circle = candidates.filter((candidate) => leaders.has(candidate))
  return {
    order: [...from(circle, memory.turns % circle.length), ...order.slice(tied)],
    memory: { ...memory, turns: memory.turns + 1 }
  }
}

/** `Σ weights·factors`, with the factors it was made of. */
export const scoreOf = <Factor extends string>(
  weights: Readonly<Record<Factor, number>>,
  factors: Readonly<Record<NoInfer<Factor>, number>>
): Score => {
  let score = 0
  for (const name in weights) score += weights[name] * factors[name]
  return { score, factors }
}
