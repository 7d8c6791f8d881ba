/** The numbers of a list of candidates that scores are made of, side by side. */
import type { BreakerPhase } from "../../resilience/breaker/Breaker.ts"
import type { Candidate, TaskType } from "../candidate/Candidate.ts"
import { outputLimitOf } from "./Factors.ts"
import type { FitnessTable } from "./Fitness.ts"
import type { ModelTier } from "./ModelTier.ts"
import { ratingOf } from "./Rating.ts"

/** Places of the tiers of models; the last one is for a model whose tier is not known. */
export const modelTiers: ReadonlyArray<ModelTier | null> = ["free", "cheap", "premium", null]
const tierPlaces: Readonly<Record<ModelTier, number>> = { free: 0, cheap: 1, premium: 2 }
const unknownTier = 3

const phases: Readonly<Record<BreakerPhase, number>> = { CLOSED: 0, DEGRADED: 1, HALF_OPEN: 2, OPEN: 3 }

/** NaN stands for what is not known. */
export class Columns {
  readonly health: Float64Array
  /** USD per 1,000,000 tokens, blended. */
  readonly usd: Float64Array
  readonly modelTier: Uint8Array
  readonly tierPriority: Float64Array
  readonly trust: Float64Array
  readonly isMeasured: Uint8Array
  readonly p95Ms: Float64Array
  readonly deviationMs: Float64Array
  readonly reliability: Float64Array
  readonly used: Float64Array
  readonly inFlight: Float64Array
  readonly contextLength: Float64Array
  /** Most tokens of an answer, by the model. */
  readonly maxOutput: Float64Array
  /** Tokens expected of an answer. */
  readonly outputLimit: Float64Array
  readonly hasQuotas: Uint8Array
  readonly #phase: Uint8Array
  /** Number of candidates in each phase. */
  readonly #phaseCounts = [0, 0, 0, 0]
  readonly #candidates: Array<Candidate>
  readonly #fits = new Map<TaskType, Float64Array>()
  #fitness: FitnessTable | null = null

  constructor(candidates: ReadonlyArray<Candidate>) {
    const count = candidates.length
    const numbers = () => new Float64Array(count)
    this.health = numbers()
    this.usd = numbers()
    this.modelTier = new Uint8Array(count)
    this.tierPriority = numbers()
    this.trust = numbers()
    this.isMeasured = new Uint8Array(count)
    this.p95Ms = numbers()
    this.deviationMs = numbers()
    this.reliability = numbers()
    this.used = numbers()
    this.inFlight = numbers()
    this.contextLength = numbers()
    this.maxOutput = numbers()
    this.outputLimit = numbers()
    this.hasQuotas = new Uint8Array(count)
    this.#phase = new Uint8Array(count)
    this.#phaseCounts[0] = count
    this.#candidates = [...candidates]
    for (let index = 0; index < count; index += 1) {
      const candidate = candidates[index]
      if (candidate !== undefined) this.put(index, candidate)
    }
  }

  /** Hot. */
  holds(index: number, candidate: Candidate): boolean {
    return this.#candidates[index] === candidate
  }

  put(index: number, candidate: Candidate): void {
    const rating = ratingOf(candidate)
    this.#candidates[index] = candidate
    this.health[index] = rating.health
    this.usd[index] = rating.usd ?? Number.NaN
    this.modelTier[index] = rating.modelTier === null ? unknownTier : tierPlaces[rating.modelTier]
    this.tierPriority[index] = rating.tierPriority
    this.trust[index] = rating.trust
    this.isMeasured[index] = rating.isMeasured ? 1 : 0
    this.p95Ms[index] = rating.p95Ms
    this.deviationMs[index] = rating.deviationMs
    this.reliability[index] = rating.reliability
    this.used[index] = candidate.used
    this.inFlight[index] = candidate.inFlight
    this.contextLength[index] = candidate.facts.contextLength ?? Number.NaN
    this.maxOutput[index] = candidate.facts.maxOutputTokens ?? Number.NaN
    this.outputLimit[index] = outputLimitOf(candidate.facts)
    this.hasQuotas[index] = candidate.quotas.length > 0 ? 1 : 0
    const before = this.#phase[index] ?? 0
    const phase = phases[candidate.breaker]
    this.#phaseCounts[before] = (this.#phaseCounts[before] ?? 0) - 1
    this.#phaseCounts[phase] = (this.#phaseCounts[phase] ?? 0) + 1
    this.#phase[index] = phase
    for (const fits of this.#fits.values()) fits[index] = Number.NaN
  }

  /** Hot: the window of each, and its longest answer, hold what is asked for, as far as they are known. */
  haveRoomFor(promptTokens: number, outputTokens: number): boolean {
    for (let index = 0; index < this.contextLength.length; index += 1) {
      if ((this.contextLength[index] ?? 0) < promptTokens + outputTokens) return false
      if ((this.maxOutput[index] ?? 0) < outputTokens) return false
    }
    return true
  }

  /** Hot: counts the breakers in a phase. */
  countIn(phase: BreakerPhase): number {
    return this.#phaseCounts[phases[phase]] ?? 0
  }

  /** Hot: rates how well each suits a task. */
  taskFits(fitness: FitnessTable, task: TaskType): Float64Array {
    if (this.#fitness !== fitness) {
      this.#fits.clear()
      this.#fitness = fitness
    }
    const known = this.#fits.get(task)
    const fits = known ?? new Float64Array(this.#candidates.length).fill(Number.NaN)
    if (known === undefined) this.#fits.set(task, fits)
    for (let index = 0; index < fits.length; index += 1) {
      const candidate = this.#candidates[index]
      if (candidate !== undefined && Number.isNaN(fits[index])) fits[index] = ratingOf(candidate).taskFit(fitness, task)
    }
    return fits
  }
}
