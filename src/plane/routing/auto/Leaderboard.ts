/**
 * Interface of the source of better values of task fitness, when the leaderboard flag is on. The service that fetches them,
 * keeps the last good copy and is silent without a network is built elsewhere and hands its overrides to `makeFitness`.
 */
import type { TaskType } from "../candidate/Candidate.ts"

export interface FitnessOverride {
  /** A model name without its path; `*` stands for anything. */
  readonly pattern: string
  /** Null: for every task. */
  readonly task: TaskType | null
  /** [0, 1]. */
  readonly fitness: number
}

export interface LeaderboardSource {
  /** Hot: the last good copy; empty when there is none. The array is a new one whenever the content changed. */
  readonly overrides: () => ReadonlyArray<FitnessOverride>
}

/** Overrides kept at most; the rest of a longer list is left out. */
export const mostOverrides = 2_000

/**
 * The merge rule. Higher layers come first and win over the static map: an operator's own values, then the leaderboard's. Values outside
 * [0, 1] and empty patterns are left out, and so are repetitions of the same pattern and task in a lower layer.
 */
export const mergeOverrides = (
  ...layers: ReadonlyArray<ReadonlyArray<FitnessOverride>>
): ReadonlyArray<FitnessOverride> => {
  const merged = new Map<string, FitnessOverride>()
  for (const override of layers.flat()) {
    const key = `${override.pattern.toLowerCase()} ${override.task ?? "*"}`
    const sound = override.fitness >= 0 && override.fitness <= 1 && override.pattern.trim() !== ""
    if (sound && !merged.has(key) && merged.size < mostOverrides) merged.set(key, override)
  }
  return [...merged.values()]
}
