/**
 * `round-robin`: the targets take turns in the combo's order; who follows in that order is the fallback. When targets come and go, the
 * circle goes on behind the one that had the last turn. Config `stickyRoundRobinLimit` (0–1000, default 0): a turn lasts that many
 * successes.
 */
import type { Candidate } from "../candidate/Candidate.ts"
import type { Served, Strategy, StrategyMemory } from "../candidate/Strategy.ts"
import { from, ordering } from "./Ordering.ts"
import * as Sticky from "./Sticky.ts"

/**
 * Index of the one whose turn it is. The count of turns says it, unless the circle has changed since the last turn: then it is the one that
 * is behind the one that had it, or was behind it when that one is gone (the deck).
 */
const nextIndex = (candidates: ReadonlyArray<Candidate>, { deck, lastDealt, turns }: StrategyMemory): number => {
  const size = candidates.length
  const counted = turns % size
  if (lastDealt === null || candidates[(counted + size - 1) % size]?.key === lastDealt) return counted
  const places = new Map(candidates.map(({ key }, index) => [key, index]))
  const last = places.get(lastDealt)
  if (last !== undefined) return (last + 1) % size
  const behind = deck.find((key) => places.has(key))
  return behind === undefined ? counted : (places.get(behind) ?? counted)
}

export const roundRobin: Strategy = (input) => {
  const { candidates, memory, policy } = input
  const limit = policy.stickyRoundRobinLimit
  const kept = Sticky.keptIndex(input, limit)
  if (kept !== null) return ordering(from(candidates, kept), "its turn lasts", memory)
  const index = nextIndex(candidates, memory)
  const first = candidates[index]
  if (first === undefined) return ordering(candidates, "no target", memory)
  const size = candidates.length
  // Turns that the circle's change has skipped count too, so that the count says the place again.
  const skipped = (index + size - (memory.turns % size)) % size
  const order = from(candidates, index)
  const after = {
    ...memory,
    turns: memory.turns + skipped + 1,
    lastDealt: first.key,
    deck: order.slice(1).map(({ key }) => key)
  }
  return ordering(order, "next in turn", Sticky.keeping(after, first.key, limit))
}

export const roundRobinServed: Served = Sticky.countingDown("stickyRoundRobinLimit")
