/**
 * `weighted`: one target is drawn by weight, the others follow by weight as fallbacks. All weights 0: every target is as likely as
 * another. Config `stickyWeightedLimit` (0–1000, default 0): the drawn one is kept for that many successes.
 */
import type { Candidate } from "../candidate/Candidate.ts"
import type { Served, Strategy } from "../candidate/Strategy.ts"
import { inFront, ordering, ranked } from "./Ordering.ts"
import * as Sticky from "./Sticky.ts"

const weightOf = ({ weight }: Candidate): number => (weight > 0 ? weight : 0)

/** Index of the drawn one. `roll` is in [0, 1). */
const draw = (candidates: ReadonlyArray<Candidate>, roll: number): number => {
  const greatest = candidates.reduce((most, candidate) => Math.max(most, weightOf(candidate)), 0)
  if (greatest === 0) return Math.floor(roll * candidates.length)
  // Shares of the greatest, because a sum of weights could leave the range of numbers.
  const shares = candidates.map((candidate) => weightOf(candidate) / greatest)
  let left = roll * shares.reduce((sum, share) => sum + share, 0)
  let chosen = 0
  for (const [index, share] of shares.entries()) {
    if (share === 0) continue
    chosen = index
    if (left < share) break
    left -= share
  }
  return chosen
}

export const weighted: Strategy = (input) => {
  const { candidates, memory, policy, random } = input
  const limit = policy.stickyWeightedLimit
  const kept = Sticky.keptIndex(input, limit)
  const first = candidates[kept ?? draw(candidates, random.next())]
  const byWeight = ranked(candidates, (candidate) => [-weightOf(candidate)]).map(({ candidate }) => candidate)
  if (first === undefined) return ordering(byWeight, "no target", memory)
  const order = inFront(byWeight, byWeight.indexOf(first))
  return kept === null
    ? ordering(order, "drawn by weight", Sticky.keeping(memory, first.key, limit))
    : ordering(order, "drawn before and kept", memory)
}

export const weightedServed: Served = Sticky.countingDown("stickyWeightedLimit")
