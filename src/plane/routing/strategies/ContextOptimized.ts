/**
 * `context-optimized`: best fit for the size of the request. The smallest context window that holds prompt and answer comes first and
 * larger ones follow, so that big windows, which cost more and attend worse, are kept for those who need them; then windows no one
 * knows; then those too small, the largest first. A client that set no limit for the answer is taken to want 1,024 tokens.
 */
import type { Strategy } from "../candidate/Strategy.ts"
import { ordering, ranked } from "./Ordering.ts"

const usualAnswerTokens = 1024

export const contextOptimized: Strategy = ({ candidates, features, memory }) => {
  const needed = features.promptTokens + (features.maxOutputTokens ?? usualAnswerTokens)
  const ranking = ranked(candidates, ({ facts: { contextLength } }) =>
    contextLength === null ? [1, 0] : contextLength >= needed ? [0, contextLength] : [2, -contextLength]
  )
  const reason = ["smallest window that fits", "no known window fits", "largest window, though too small"]
  return ordering(
    ranking.map(({ candidate }) => candidate),
    reason[ranking[0]?.measures[0] ?? 1] ?? "no known window fits",
    memory
  )
}
