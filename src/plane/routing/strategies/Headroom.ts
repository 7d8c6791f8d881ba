/**
 * `headroom`: most quota left first, by the scarcest window of each target; an unknown quota counts as full. Equal targets keep the
 * combo's order.
 */
import type { Score, Strategy } from "../candidate/Strategy.ts"
import { ordering, ranked, scoreOf } from "./Ordering.ts"
import { headroomOf, windowsNow } from "./Quota.ts"

const weights = { remaining: 1 }

export const headroom: Strategy = ({ candidates, memory, nowMs }) => {
  const scores = new Map<string, Score>()
  const ranking = ranked(candidates, (candidate) => {
    const score = scoreOf(weights, { remaining: headroomOf(windowsNow(candidate, nowMs)) })
    scores.set(candidate.key, score)
    return [-score.score]
  })
  return {
    ...ordering(
      ranking.map(({ candidate }) => candidate),
      "most quota left",
      memory
    ),
    scores,
    weights
  }
}
