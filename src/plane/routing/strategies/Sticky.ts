/** Keeping one candidate for some successes before moving on: shared by `weighted` and `round-robin`. */
import type { ComboPolicy } from "../../../subjects/combos/entity/ComboPolicy.ts"
import type { Served, StrategyInput, StrategyMemory } from "../candidate/Strategy.ts"

/** Setting of a combo for the number of successes that a pick is kept for. 0: every request picks anew. */
type LimitKey = "stickyRoundRobinLimit" | "stickyWeightedLimit"

/** Finds the kept candidate; null when none is kept, or it may not be called now. */
export const keptIndex = ({ candidates, memory }: StrategyInput, limit: number): number | null => {
  const { sticky } = memory
  if (limit === 0 || sticky === null || sticky.left < 1) return null
  const index = candidates.findIndex(({ key }) => key === sticky.key)
  return index === -1 ? null : index
}

/** The memory with a fresh pick; the same one when there is nothing to keep, so that it is not written again. */
export const keeping = (memory: StrategyMemory, key: string, limit: number): StrategyMemory =>
  limit === 0 && memory.sticky === null ? memory : { ...memory, sticky: limit === 0 ? null : { key, left: limit } }

/**
 * A success of the kept candidate is counted. That of another is not: that may be a request which began under an earlier pick, and a
 * kept candidate that fails is left as soon as it may not be called any more.
 */
export const countingDown =
  (key: LimitKey): Served =>
  (memory, served, policy: ComboPolicy) => {
    const { sticky } = memory
    if (sticky === null || sticky.key !== served.key) return memory
    // The limit may have been lowered since.
    const left = Math.min(sticky.left, policy[key]) - 1
    return { ...memory, sticky: left < 1 ? null : { key: sticky.key, left } }
  }
