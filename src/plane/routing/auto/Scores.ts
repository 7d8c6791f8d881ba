/**
 * The scores of all candidates, as numbers: what a decision compares. The same sums in the same order as from `factorsOf`, without an
 * object per candidate; the factors themselves are worked out for the record, when it is asked for. Pure.
 */
import type { Weights } from "../../../subjects/combos/entity/AutoWeights.ts"
import type { Candidate, Features } from "../candidate/Candidate.ts"
import { type Columns, modelTiers } from "./Columns.ts"
import { leastDeviationMs, neutral, quotaFactor, resetWindowFactor, shareOf, tierAffinityOf } from "./Factors.ts"
import type { FitnessTable } from "./Fitness.ts"
import type { Layout } from "./Layout.ts"
import { clamp01, type Scale, taken } from "./Pool.ts"
import { specificityFit } from "./Specificity.ts"
import { selected } from "./Select.ts"

/** Every candidate, and where those are in it that make the scales. */
export interface Measured {
  readonly all: ReadonlyArray<Candidate>
  readonly layout: Layout
  /** Ascending places in `all`; null: every one. */
  readonly scaling: Int32Array | null
}

export interface Scored {
  /** Scores by place in `all`; valid until the next call. */
  readonly scores: Float64Array
  readonly p95Ms: Scale
}

/** Buffer that is used again by the next decision: a decision does not wait in between. */
let scores = new Float64Array(64)
let values = new Float64Array(64)
let loads = new Float64Array(64)

const roomFor = (count: number): void => {
  if (scores.length >= count) return
  scores = new Float64Array(count * 2)
  values = new Float64Array(count * 2)
}

/** Computes the scale of the candidates at `places`; null: of all. */
const scaleOf = ({ isMeasured, trust }: Columns, column: Float64Array, places: Int32Array | null): Scale => {
  const each = places?.length ?? column.length
  let count = 0
  for (let at = 0; at < each; at += 1) {
    const index = places === null ? at : (places[at] ?? 0)
    if (isMeasured[index] !== 1) continue
    values[count] = column[index] ?? 0
    count += 1
  }
  if (count === 0) return { median: null, most: 0 }
  const median = selected(values, count, (count - 1) >> 1)
  let most = 0
  for (let at = 0; at < each; at += 1) {
    const index = places === null ? at : (places[at] ?? 0)
    const value = taken(trust[index] ?? 0, column[index] ?? 0, median)
    if (value > most) most = value
  }
  return { median, most }
}

const mostIn = (column: Float64Array, places: Int32Array | null): number => {
  const count = places?.length ?? column.length
  let most = 0
  for (let at = 0; at < count; at += 1) {
    const value = column[places === null ? at : (places[at] ?? 0)] ?? 0
    if (value > most) most = value
  }
  return most
}

/**
 * Numbers per entry. Of each connection: used, in flight, and whether it is there; then of each provider: used, in
 * flight, connections.
 */
const stride = 3

const fillLoads = ({ all, layout, scaling }: Measured): void => {
  const { columns, connectionCount, connections, providerCount, providers } = layout
  const room = (connectionCount + providerCount) * stride
  if (loads.length < room) loads = new Float64Array(room * 2)
  loads.fill(0, 0, room)
  const count = scaling?.length ?? all.length
  for (let each = 0; each < count; each += 1) {
    const index = scaling === null ? each : (scaling[each] ?? 0)
    const connection = connections[index] ?? 0
    const used = columns.used[index] ?? 0
    const inFlight = columns.inFlight[index] ?? 0
    const mine = connection * stride
    const whole = (connectionCount + (providers[connection] ?? 0)) * stride
    if (loads[mine + 2] === 0) {
      loads[mine + 2] = 1
      loads[whole + 2] = (loads[whole + 2] ?? 0) + 1
    }
    loads[mine] = (loads[mine] ?? 0) + used
    loads[mine + 1] = (loads[mine + 1] ?? 0) + inFlight
    loads[whole] = (loads[whole] ?? 0) + used
    loads[whole + 1] = (loads[whole + 1] ?? 0) + inFlight
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

const tierFactors = { affinity: [0, 0, 0, 0], match: [0, 0, 0, 0] }

const contextAffinity = (contextLength: number, needed: number): number => {
  if (Number.isNaN(contextLength)) return neutral
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
  const { columns } = layout
  const { maxOutputTokens, promptTokens } = features
  const count = all.length
  roomFor(count)
  const mostUsd = mostIn(columns.usd, scaling)
  const p95Ms = scaleOf(columns, columns.p95Ms, scaling)
  const deviationMs = scaleOf(columns, columns.deviationMs, scaling)
  fillLoads(measured)
  for (let tier = 0; tier < modelTiers.length; tier += 1) {
    const name = modelTiers[tier] ?? null
    tierFactors.affinity[tier] = tierAffinityOf(name, features)
    tierFactors.match[tier] = specificityFit(name, features.specificity)
  }
  const taskFits = columns.taskFits(fitness, features.taskType)
  const dearest = Math.max(mostUsd, 0.001)
  const slowest = Math.max(p95Ms.most, 1)
  const unevenest = Math.max(deviationMs.most, leastDeviationMs)
  for (let index = 0; index < count; index += 1) {
    const tier = columns.modelTier[index] ?? 0
    const trust = columns.trust[index] ?? 0
    const usd = columns.usd[index] ?? 0
    let quota = neutral
    let reset = neutral
    if (columns.hasQuotas[index] === 1) {
      const candidate = all[index] as Candidate
      quota = quotaFactor(candidate, nowMs)
      reset = resetWindowFactor(candidate, nowMs)
    }
    const cost = Number.isNaN(usd) ? neutral : clamp01(1 - usd / dearest)
    const latency =
      p95Ms.median === null ? neutral : clamp01(1 - taken(trust, columns.p95Ms[index] ?? 0, p95Ms.median) / slowest)
    const even =
      deviationMs.median === null
        ? neutral
        : clamp01(1 - taken(trust, columns.deviationMs[index] ?? 0, deviationMs.median) / unevenest)
    const needed = promptTokens + (maxOutputTokens ?? columns.outputLimit[index] ?? 0)
    scores[index] =
      weights.health * (columns.health[index] ?? 0) +
      weights.quota * quota +
      weights.costInv * cost +
      weights.latencyInv * latency +
      weights.taskFit * (taskFits[index] ?? 0) +
      weights.stability * (even * (columns.reliability[index] ?? 0)) +
      weights.tierPriority * (columns.tierPriority[index] ?? 0) +
      weights.tierAffinity * (tierFactors.affinity[tier] ?? 0) +
      weights.specificityMatch * (tierFactors.match[tier] ?? 0) +
      weights.contextAffinity * contextAffinity(columns.contextLength[index] ?? 0, needed) +
      weights.connectionDensity * densityOf(layout, index) +
      weights.resetWindowAffinity * reset
  }
  return { scores, p95Ms }
}
