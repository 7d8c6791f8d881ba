/**
 * `cost-optimized`: lowest blended price first (60 % input, 40 % output, as everywhere in routing), so free ones before all; targets
 * without a known price last. Equals keep the combo's order. The score is the negative price in USD per 1,000,000 tokens.
 */
import type { Score, Strategy } from "../candidate/Strategy.ts"
import { ordering, ranked, scoreOf } from "./Ordering.ts"

const weights = { inputUsd: -0.6, outputUsd: -0.4 }

export const costOptimized: Strategy = ({ candidates, memory }) => {
  const scores = new Map<string, Score>()
  for (const { key, price } of candidates) {
    if (price !== null) scores.set(key, scoreOf(weights, { inputUsd: price.inputUsd, outputUsd: price.outputUsd }))
  }
  const order = ranked(candidates, ({ key }) => [-(scores.get(key)?.score ?? Number.NEGATIVE_INFINITY)])
  const cheapest = order[0]?.measures[0] ?? Number.POSITIVE_INFINITY
  const reason = cheapest === Number.POSITIVE_INFINITY ? "no price is known" : cheapest <= 0 ? "free" : "lowest price"
  return {
    ...ordering(
      order.map(({ candidate }) => candidate),
      reason,
      memory
    ),
    scores,
    weights
  }
}
