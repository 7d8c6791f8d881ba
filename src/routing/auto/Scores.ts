/**
 * The scores of all candidates, as numbers: what a decision compares. The same sums in the same order as from `factorsOf`, without an
 * object per candidate; the factors themselves are worked out for the record, when it is asked for. Pure.
 */
import type { Weights } from "../../domain/combo/AutoWeights.ts"
import type { Candidate, Features } from "../candidate/Candidate.ts"
import {
  leastDeviationMs,
  neutral,
  outputLimitOf,
  quotaFactor,
  resetWindowFactor,
  shareOf,
  tierAffinityOf
} from "./Factors.ts"
import type { FitnessTable } from "./Fitness.ts"
import type { Layout } from "./Layout.ts"
import type { ModelTier } from "./ModelTier.ts"
import { clamp01, type Scale, taken } from "./Pool.ts"
import { ratingOf, type Rating } from "./Rating.ts"
import { specificityFit } from "./Specificity.ts"
import { selected } from "./Select.ts"

/** Every candidate, and where those stand in it that make the scales. */
export interface Measured {
  readonly all: ReadonlyArray<Candidate>
  readonly layout: Layout
  /** Ascending places in `all`; null: every one. */
  readonly scaling: Int32Array | null
}

export interface Scored {
  /** By place in `all`; valid until the next call. */
  readonly scores: Float64Array
  readonly p95Ms: Scale
}

/** Room that is used again by the next decision: a decision does not wait in between. */
let scores = new Float64Array(64)
let values = new Float64Array(64)
let loads = new Float64Array(64)

const roomFor = (count: number): void => {
  if (scores.length >= count) return
  scores = new Float64Array(count * 2)
  values = new Float64Array(count * 2)
}

const scaleOf = (chosen: ReadonlyArray<Rating>, read: (rating: Rating) => number): Scale => {
  let count = 0
  for (const rating of chosen) {
    if (!rating.isMeasured) continue
    values[count] = read(rating)
    count += 1
  }
  if (count === 0) return { median: null, most: 0 }
  const median = selected(values, count, (count - 1) >> 1)
  let most = 0
  for (const rating of chosen) {
    const value = taken(rating.trust, read(rating), median)
    if (value > most) most = value
  }
  return { median, most }
}

/** Of each connection: used, in flight, and whether it is there; then of each provider: used, in flight, connections. */
const stride = 3

const fillLoads = ({ all, layout, scaling }: Measured): void => {
  const { connectionCount, connections, providerCount, providers } = layout
  const room = (connectionCount + providerCount) * stride
  if (loads.length < room) loads = new Float64Array(room * 2)
  loads.fill(0, 0, room)
  const count = scaling?.length ?? all.length
  for (let each = 0; each < count; each += 1) {
    const index = scaling === null ? each : (scaling[each] ?? 0)
    const candidate = all[index]
    if (candidate === undefined) continue
    const connection = connections[index] ?? 0
    const mine = connection * stride
    const whole = (connectionCount + (providers[connection] ?? 0)) * stride
    if (loads[mine + 2] === 0) {
      loads[mine + 2] = 1
      loads[whole + 2] = (loads[whole + 2] ?? 0) + 1
    }
    loads[mine] = (loads[mine] ?? 0) + candidate.used
    loads[mine + 1] = (loads[mine + 1] ?? 0) + candidate.inFlight
    loads[whole] = (loads[whole] ?? 0) + candidate.used
    loads[whole + 1] = (loads[whole + 1] ?? 0) + candidate.inFlight
  }
}

const densityOf = ({ connectionCount, connections, providers }: Layout, index: number): number => {
  const connection = connections[index] ?? 0
  const mine = connection * stride
  if (loads[mine + 2] === 0) return neutral
  const whole = (connectionCount + (providers[connection] ?? 0)) * stride
  const count = loads[whole + 2] ?? 0
  const inFlight = shareOf(loads[mine + 1] ?? 0, loads[whole + 1] ?? 0, count)
  return (inFlight + shareOf(loads[mine] ?? 0, loads[whole] ?? 0, count)) / 2
}

const tiers: ReadonlyArray<ModelTier | null> = ["free", "cheap", "premium", null]
const places: Readonly<Record<ModelTier, number>> = { free: 0, cheap: 1, premium: 2 }
const tierFactors = { affinity: [0, 0, 0, 0], match: [0, 0, 0, 0] }

const contextAffinity = ({ facts }: Candidate, { maxOutputTokens, promptTokens }: Features): number => {
  const { contextLength } = facts
  if (contextLength === null) return neutral
  const needed = promptTokens + (maxOutputTokens ?? outputLimitOf(facts))
  if (needed > contextLength) return 0
  return clamp01(1.5 - needed / Math.max(contextLength, 1))
}

/** Hot. */
export const scoreAll = (
  measured: Measured,
  features: Features,
  nowMs: number,
  weights: Weights,
  fitness: FitnessTable
): Scored => {
  const { all, layout, scaling } = measured
  const count = all.length
  roomFor(count)
  const every = all.map(ratingOf)
  const chosen = scaling === null ? every : Array.from(scaling, (index) => every[index] as Rating)
  let mostUsd = 0
  for (const { usd } of chosen) if (usd !== null && usd > mostUsd) mostUsd = usd
  const p95Ms = scaleOf(chosen, (rating) => rating.p95Ms)
  const deviationMs = scaleOf(chosen, (rating) => rating.deviationMs)
  fillLoads(measured)
  for (let tier = 0; tier < tiers.length; tier += 1) {
    const name = tiers[tier] ?? null
    tierFactors.affinity[tier] = tierAffinityOf(name, features)
    tierFactors.match[tier] = specificityFit(name, features.specificity)
  }
  const dearest = Math.max(mostUsd, 0.001)
  const slowest = Math.max(p95Ms.most, 1)
  const unevenest = Math.max(deviationMs.most, leastDeviationMs)
  for (let index = 0; index < count; index += 1) {
    const candidate = all[index]
    const rating = every[index]
    if (candidate === undefined || rating === undefined) continue
    const { modelTier, usd } = rating
    const place = modelTier === null ? 3 : places[modelTier]
    const hasQuotas = candidate.quotas.length > 0
    const quota = hasQuotas ? quotaFactor(candidate, nowMs) : neutral
    const reset = hasQuotas ? resetWindowFactor(candidate, nowMs) : neutral
    const cost = usd === null ? neutral : clamp01(1 - usd / dearest)
    const latency =
      p95Ms.median === null ? neutral : clamp01(1 - taken(rating.trust, rating.p95Ms, p95Ms.median) / slowest)
    const even =
      deviationMs.median === null
        ? neutral
        : clamp01(1 - taken(rating.trust, rating.deviationMs, deviationMs.median) / unevenest)
    scores[index] =
      weights.health * rating.health +
      weights.quota * quota +
      weights.costInv * cost +
      weights.latencyInv * latency +
      weights.taskFit * rating.taskFit(fitness, features.taskType) +
      weights.stability * (even * rating.reliability) +
      weights.tierPriority * rating.tierPriority +
      weights.tierAffinity * (tierFactors.affinity[place] ?? 0) +
      weights.specificityMatch * (tierFactors.match[place] ?? 0) +
      weights.contextAffinity * contextAffinity(candidate, features) +
      weights.connectionDensity * densityOf(layout, index) +
      weights.resetWindowAffinity * reset
  }
  return { scores, p95Ms }
}
