/** Caches the part of a candidate's factors that depends on the candidate alone, as long as nothing of it changes. */
import { type Candidate, type CandidateMemo, memo, type TaskType } from "../candidate/Candidate.ts"
import type { FitnessTable } from "./Fitness.ts"
import { healthFactor, tierPriorityFactor } from "./Factors.ts"
import { type ModelTier, modelTierOf } from "./ModelTier.ts"
import { blendedUsd, clamp01, errorRateOf, trust } from "./Pool.ts"

export class Rating implements CandidateMemo {
  readonly of: Candidate
  readonly provider: string
  readonly connectionId: string
  readonly health: number
  /** USD per 1,000,000 tokens, blended; null when not priced. */
  readonly usd: number | null
  readonly modelTier: ModelTier | null
  readonly tierPriority: number
  /** Weight of its measurements by their number, [0, 1]. */
  readonly trust: number
  readonly isMeasured: boolean
  readonly p95Ms: number
  readonly deviationMs: number
  readonly reliability: number
  #fitness: FitnessTable | null = null
  #task: TaskType = "default"
  #taskFit = 0

  constructor(candidate: Candidate) {
    const { performance, target } = candidate
    this.of = candidate
    this.provider = target.account.spec.id
    this.connectionId = target.account.connection.id
    this.health = healthFactor(candidate)
    this.usd = blendedUsd(candidate)
    this.modelTier = modelTierOf(candidate)
    this.tierPriority = tierPriorityFactor(candidate)
    this.trust = trust(performance)
    this.isMeasured = performance !== null && performance.samples > 0
    this.p95Ms = performance?.p95Ms ?? 0
    this.deviationMs = performance?.deviationMs ?? 0
    this.reliability = 1 - errorRateOf(candidate)
  }

  taskFit(fitness: FitnessTable, task: TaskType): number {
    if (this.#fitness !== fitness || this.#task !== task) {
      const { facts, target } = this.of
      this.#fitness = fitness
      this.#task = task
      this.#taskFit = clamp01(fitness.fitness(target.model, facts, task))
    }
    return this.#taskFit
  }
}

/** Hot. */
export const ratingOf = (candidate: Candidate): Rating => {
  const known = candidate[memo]
  // The memo of a copy is that of the one it was copied from.
  if (known instanceof Rating && known.of === candidate) return known
  const rating = new Rating(candidate)
  if (!Object.isFrozen(candidate)) candidate[memo] = rating
  return rating
}
