/**
 * Quota share (`qtSd/…`): deficit round robin by weight. Members whose quota is nearly used up go to the
 * tail, before them those without a free place; a member left out neither earns nor pays. Pure.
 *
 * Every member earns its share of a request with each request, and the one that is asked pays one. Of those who have earned enough the one
 * goes whose credit would be too large soonest (Tijdeman's rule): so none ever is a whole request ahead of its share or behind it,
 * whatever the weights, and less than two over any window. No order of turns keeps to one over every window for all weights.
 */
import { byStrategy } from "../candidate/Reason.ts"
import type { Candidate } from "../candidate/Candidate.ts"
import type { Strategy, StrategyMemory } from "../candidate/Strategy.ts"

/** Less than this left of a window, and a member is spared while others are not. */
const saturatedBelow = 0.05

const isSaturated = ({ quotas }: Candidate): boolean => quotas.some(({ remaining }) => remaining < saturatedBelow)

const isFull = ({ inFlight, target }: Candidate): boolean => {
  const { maxConcurrent } = target.account.connection
  return maxConcurrent !== null && inFlight >= maxConcurrent
}

/** 0 first, 2 last. */
const rank = (candidate: Candidate): number => (isSaturated(candidate) ? 2 : isFull(candidate) ? 1 : 0)

/** Requests that a session may have put on its account beyond its share before that is forgiven. */
const mostDebt = 10

/** Credits are sums of fractions: what differs by less is the same. */
const hair = 1e-9

interface Turn {
  readonly candidate: Candidate
  readonly share: number
  /** Credit after this request's earning. */
  readonly credit: number
}

/** Computes the turns. The credits of the active candidates sum up to nothing, also after members came and went. */
const turnsOf = (active: ReadonlyArray<Candidate>, credits: StrategyMemory["credits"]): ReadonlyArray<Turn> => {
  const total = active.reduce((sum, { weight }) => sum + weight, 0)
  const carried = active.map(({ key }) => (Object.hasOwn(credits, key) ? (credits[key] ?? 0) : 0))
  const surplus = carried.reduce((sum, credit) => sum + credit, 0)
  return active.map((candidate, index) => {
    const share = total > 0 ? candidate.weight / total : 1 / active.length
    return { candidate, share, credit: (carried[index] ?? 0) - surplus * share + share }
  })
}

/** Computes when its credit would be too large, in requests from now. */
const deadline = ({ credit, share }: Turn, most: number): number =>
  share > 0 ? (most - credit) / share : Number.POSITIVE_INFINITY

/** Finds the candidate whose turn it is. */
const next = (turns: ReadonlyArray<Turn>): Turn | undefined => {
  const least = turns.length < 2 ? 0 : 1 / (2 * turns.length - 2)
  const ready = turns.filter(({ credit, share }) => share > 0 && credit >= least - hair)
  let first: Turn | undefined
  for (const turn of ready.length > 0 ? ready : turns) {
    if (first === undefined) first = turn
    else {
      const sooner = deadline(first, 1 - least) - deadline(turn, 1 - least)
      if (sooner > hair || (sooner > -hair && turn.candidate.inFlight < first.candidate.inFlight)) first = turn
    }
  }
  return first
}

export const quotaShare: Strategy = ({ candidates, memory }) => {
  const best = Math.min(...candidates.map(rank))
  const turns = turnsOf(
    candidates.filter((candidate) => rank(candidate) === best),
    memory.credits
  )
  const first = next(turns)
  const credits = new Map(
    candidates.flatMap(({ key }) => (Object.hasOwn(memory.credits, key) ? [[key, memory.credits[key] ?? 0]] : []))
  )
  for (const turn of turns) credits.set(turn.candidate.key, turn.credit - (turn === first ? 1 : 0))
  const creditOf = ({ key }: Candidate): number => credits.get(key) ?? 0
  const others = candidates
    .filter((candidate) => candidate !== first?.candidate)
    .toSorted((a, b) => rank(a) - rank(b) || creditOf(b) - creditOf(a) || a.inFlight - b.inFlight)
  return {
    order: first === undefined ? others : [first.candidate, ...others],
    reason: byStrategy(best === 2 ? "all members are saturated" : "most share to its credit"),
    memory: { ...memory, credits: Object.fromEntries(credits) }
  }
}

/** A session's own account went instead of the one whose turn it was, and pays for it. */
export const paidInstead = (memory: StrategyMemory, first: Candidate, own: Candidate): StrategyMemory => {
  const creditOf = ({ key }: Candidate): number => memory.credits[key] ?? 0
  const debt = Math.max(-mostDebt, creditOf(own) - 1)
  return { ...memory, credits: { ...memory.credits, [first.key]: creditOf(first) + 1, [own.key]: debt } }
}
