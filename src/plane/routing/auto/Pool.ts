/**
 * Scales of a pool of candidates for prices, latencies and loads. Made once per decision, in one pass, so that every factor of every
 * candidate is a few operations. Pure.
 */
import type { Candidate, Performance } from "../candidate/Candidate.ts"
import type { FitnessTable } from "./Fitness.ts"

/** Measurements from this many samples on stand for themselves; fewer are drawn towards what the pool shows. */
const trustedSamples = 5
/** Values expected of a candidate that was not called yet. */
const expectedErrorRate = 0.05

export interface Load {
  /** Load of one connection, over all its models in the pool. */
  used: number
  inFlight: number
  readonly provider: { connections: number; used: number; inFlight: number }
}

export interface Scale {
  /** Middle of what was measured; null when nothing was. */
  readonly median: number | null
  /** Largest value in the pool, as the candidates are taken (see `taken`). */
  readonly most: number
}

export interface Pool {
  readonly fitness: FitnessTable
  /** USD per 1,000,000 tokens, blended. */
  readonly mostUsd: number
  readonly p95Ms: Scale
  readonly deviationMs: Scale
  readonly loads: ReadonlyMap<string, Readonly<Load>>
}

export const clamp01 = (value: number): number => (value > 0 ? (value < 1 ? value : 1) : 0)

/** USD per 1,000,000 tokens, 60 % input and 40 % output; null when not priced. */
export const blendedUsd = ({ price }: Candidate): number | null =>
  price === null ? null : 0.6 * price.inputUsd + 0.4 * price.outputUsd

/** Computes the weight of measurements by their number, [0, 1]. */
export const trust = (performance: Performance | null): number =>
  performance === null ? 0 : clamp01(performance.samples / trustedSamples)

/**
 * A measurement as it is taken: itself from `trustedSamples` on, before that drawn towards the median of the pool, which also stands
 * for those never measured. So an unknown candidate is neither the fastest nor the slowest.
 */
export const taken = (share: number, measured: number, median: number): number =>
  share === 0 ? median : share * measured + (1 - share) * median

const takenOf = (performance: Performance | null, measured: number, { median }: Pick<Scale, "median">): number | null =>
  median === null ? null : taken(trust(performance), measured, median)

/** p95 latency in milliseconds, as it is taken. */
export const p95Of = ({ performance }: Candidate, pool: Pick<Pool, "p95Ms">): number | null =>
  takenOf(performance, performance?.p95Ms ?? 0, pool.p95Ms)

/** Deviation of the latency in milliseconds, as it is taken. */
export const deviationOf = ({ performance }: Candidate, pool: Pick<Pool, "deviationMs">): number | null =>
  takenOf(performance, performance?.deviationMs ?? 0, pool.deviationMs)

/** Fraction of calls that fail; few samples are drawn towards 5 %, no sample is 5 %. */
export const errorRateOf = ({ performance }: Candidate): number => {
  const share = trust(performance)
  return clamp01(share * (performance?.errorRate ?? 0) + (1 - share) * expectedErrorRate)
}

const medianOf = (values: ReadonlyArray<number>): number | null =>
  values.length === 0 ? null : (Float64Array.from(values).sort()[(values.length - 1) >> 1] ?? null)

const measuredOf = (
  candidates: ReadonlyArray<Candidate>,
  read: (performance: Performance) => number
): ReadonlyArray<number> => {
  const values: Array<number> = []
  for (const { performance } of candidates) {
    if (performance !== null && performance.samples > 0) values.push(read(performance))
  }
  return values
}

const scaleOf = (candidates: ReadonlyArray<Candidate>, read: (performance: Performance) => number): Scale => {
  const median = medianOf(measuredOf(candidates, read))
  let most = 0
  for (const { performance } of candidates) {
    const value = takenOf(performance, performance === null ? 0 : read(performance), { median })
    if (value !== null && value > most) most = value
  }
  return { median, most }
}

const loadsOf = (candidates: ReadonlyArray<Candidate>): ReadonlyMap<string, Load> => {
  const providers = new Map<string, Load["provider"]>()
  const loads = new Map<string, Load>()
  for (const { inFlight, target, used } of candidates) {
    const { connection, spec } = target.account
    let provider = providers.get(spec.id)
    if (provider === undefined) {
      provider = { connections: 0, used: 0, inFlight: 0 }
      providers.set(spec.id, provider)
    }
    let load = loads.get(connection.id)
    if (load === undefined) {
      load = { used: 0, inFlight: 0, provider }
      loads.set(connection.id, load)
      provider.connections += 1
    }
    load.used += used
    load.inFlight += inFlight
    provider.used += used
    provider.inFlight += inFlight
  }
  return loads
}

/** The scales of those a request may go to; others can be measured on them, too. */
export const poolOf = (candidates: ReadonlyArray<Candidate>, fitness: FitnessTable): Pool => {
  let mostUsd = 0
  for (const candidate of candidates) {
    const usd = blendedUsd(candidate)
    if (usd !== null && usd > mostUsd) mostUsd = usd
  }
  return {
    fitness,
    mostUsd,
    p95Ms: scaleOf(candidates, ({ p95Ms }) => p95Ms),
    deviationMs: scaleOf(candidates, ({ deviationMs }) => deviationMs),
    loads: loadsOf(candidates)
  }
}
