/** Random values of a simulation, out of seeds; and the percentiles of its results. Pure. */
import { makeSeededRandom, type SeededRandom } from "../../kernel/SeededRandom.ts"

/** The 95th percentile of the standard normal distribution. */
const z95 = 1.6448536269514722

/** Several generators out of one seed, so that drawing more from one does not move the others. */
export const streamsOf = (seed: number, count: number): ReadonlyArray<SeededRandom> => {
  const source = makeSeededRandom(seed)
  return Array.from({ length: count }, () => makeSeededRandom(source.below(2 ** 32)))
}

const positive = (random: SeededRandom): number => Math.max(random.next(), Number.EPSILON)

/** Time between two arrivals of a Poisson process, in milliseconds. */
export const gapMs = (random: SeededRandom, ratePerSecond: number): number =>
  (-Math.log(positive(random)) * 1_000) / ratePerSecond

/** A latency of the lognormal distribution with this median and this 95th percentile, in milliseconds. */
export const latencyMs = (random: SeededRandom, p50Ms: number, p95Ms: number): number => {
  const normal = Math.sqrt(-2 * Math.log(positive(random))) * Math.cos(2 * Math.PI * random.next())
  const sigma = Math.log(Math.max(p95Ms, p50Ms) / p50Ms) / z95
  return p50Ms * Math.exp(sigma * normal)
}

/** Percentile by nearest rank; null of nothing. */
export const percentile = (ascending: ArrayLike<number>, part: number): number | null =>
  ascending[Math.max(0, Math.ceil(ascending.length * part) - 1)] ?? null
