/**
 * `p2c` (power of two choices): two targets are drawn at random and the better one is first; of equals the one with fewer requests in
 * progress. The others follow by the same measure.
 *
 * Score = success rate (unknown: .5) + 1 / log10(typical latency in ms + 10) (unknown: .25) − .25 while the breaker waits for a probe.
 * Every request in progress counts as one more latency to wait for: a burst that finds the same one better all the time would swamp
 * it.
 */
import type { BreakerPhase } from "../../resilience/breaker/Breaker.ts"
import type { Candidate, Performance } from "../candidate/Candidate.ts"
import type { Score, Strategy } from "../candidate/Strategy.ts"
import { inFront, ordering, ranked, scoreOf } from "./Ordering.ts"

const weights = { successRate: 1, speed: 1, probing: -0.25 }

/** An open breaker that may be called is about to be half-open: only time has to be noticed. */
const isProbing = (phase: BreakerPhase): boolean => phase === "HALF_OPEN" || phase === "OPEN"

/**
 * Returns the middle between the median and the 95th percentile: one slow call of many must not move it, but a target that has
 * become slow must show before half of its remembered calls were slow.
 */
const typicalMs = ({ p50Ms, p95Ms }: Performance): number => Math.max(0, (p50Ms + p95Ms) / 2)

export const p2cScore = ({ breaker, inFlight, performance }: Candidate): Score => {
  const known = performance === null || performance.samples === 0 ? null : performance
  return scoreOf(weights, {
    successRate: known === null ? 0.5 : 1 - known.errorRate,
    speed: known === null ? 0.25 : 1 / Math.log10(typicalMs(known) * (1 + inFlight) + 10),
    probing: isProbing(breaker) ? 1 : 0
  })
}

export const p2c: Strategy = ({ candidates, memory, random }) => {
  const scores = new Map(candidates.map((candidate) => [candidate.key, p2cScore(candidate)]))
  const measure = (candidate: Candidate) => [-(scores.get(candidate.key)?.score ?? 0), candidate.inFlight]
  const order = ranked(candidates, measure).map(({ candidate }) => candidate)
  const size = candidates.length
  const one = random.below(size)
  const step = size < 2 ? 0 : 1 + random.below(size - 1)
  const drawn = [candidates[one], candidates[(one + step) % size]].filter((candidate) => candidate !== undefined)
  const better = ranked(drawn, measure)[0]?.candidate
  return {
    ...ordering(better === undefined ? order : inFront(order, order.indexOf(better)), "better of two drawn", memory),
    scores,
    weights
  }
}
