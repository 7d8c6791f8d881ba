/**
 * Quota share (document 1 `qtSd/…`, reference-facts 4.1): deficit round robin by weight, so that over any window every member has had
 * its share within one request; members whose quota is nearly used up go to the tail. Pure.
 */
import type { Candidate } from "../engine/Candidate.ts"
import type { Strategy } from "../engine/Strategy.ts"

/** Less than this left of a window, and a member is spared while others are not. */
export const saturatedBelow = 0.05

const isSaturated = ({ quotas }: Candidate): boolean => quotas.some(({ remaining }) => remaining < saturatedBelow)

const isFull = ({ inFlight, target }: Candidate): boolean => {
  const { maxConcurrent } = target.account.connection
  return maxConcurrent !== null && inFlight >= maxConcurrent
}

/** 0 first, 2 last. */
const rank = (candidate: Candidate): number => (isSaturated(candidate) ? 2 : isFull(candidate) ? 1 : 0)

export const quotaShare: Strategy = ({ candidates, memory }) => {
  const total = candidates.reduce((sum, { weight }) => sum + weight, 0)
  const shareOf = ({ weight }: Candidate): number => (total > 0 ? weight / total : 1 / candidates.length)
  // Every member earns its share with every request, and whoever serves it pays one.
  const earned = new Map(
    candidates.map((candidate) => [candidate.key, (memory.credits[candidate.key] ?? 0) + shareOf(candidate)])
  )
  const creditOf = ({ key }: Candidate): number => earned.get(key) ?? 0
  const order = candidates.toSorted((a, b) => rank(a) - rank(b) || creditOf(b) - creditOf(a) || a.inFlight - b.inFlight)
  const [first] = order
  if (first !== undefined) earned.set(first.key, creditOf(first) - 1)
  return {
    order,
    reason: first !== undefined && rank(first) === 2 ? "all members are saturated" : "most share to its credit",
    memory: { ...memory, credits: Object.fromEntries(earned) }
  }
}
