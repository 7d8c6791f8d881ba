/** Sums of the steps of a series, and percentiles of latency from requests counted by latency. Pure. */
import { nanoUsdParts, nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import { placeOf } from "../../kernel/time/TimeSteps.ts"
import { latencyBounds } from "../../store/usage/UsageSeriesSql.ts"

/** Sums of each step, the oldest first. Percentiles are null in steps without requests. */
export interface StepSums {
  readonly requests: Array<number>
  readonly failed: Array<number>
  readonly tokensIn: Array<number>
  readonly tokensOut: Array<number>
  readonly cacheRead: Array<number>
  readonly costUsd: Array<number>
  readonly p50Ms: Array<number | null>
  readonly p95Ms: Array<number | null>
}

/** Requests by latency, and the least and the greatest of them. */
interface Latencies {
  readonly counts: Array<number>
  leastMs: number
  mostMs: number
}

const noLatencies = (): Latencies => ({
  counts: Array.from({ length: latencyBounds.length + 1 }, () => 0),
  leastMs: Number.POSITIVE_INFINITY,
  mostMs: 0
})

/**
 * The latency below which a part of the requests was, in whole ms; null without requests. Within the counts of one bound it is taken as spread
 * evenly, so that it is exact to a fifth or so, and never outside of what was seen.
 */
export const percentile = ({ counts, leastMs, mostMs }: Latencies, part: number): number | null => {
  const all = counts.reduce((sum, count) => sum + count, 0)
  if (all === 0) return null
  let left = part * all
  for (const [place, count] of counts.entries()) {
    if (count === 0 || left > count) {
      left -= count
      continue
    }
    const fromMs = Math.max(leastMs, latencyBounds[place - 1] ?? 0)
    const toMs = Math.min(mostMs, latencyBounds[place] ?? mostMs)
    return Math.round(Math.min(mostMs, Math.max(leastMs, fromMs + (toMs - fromMs) * (left / count))))
  }
  return mostMs
}

/** The database has written it, and it may be long: it is not checked again. */
const pointsIn = (json: string): ReadonlyArray<ReadonlyArray<number>> =>
  JSON.parse(json) as ReadonlyArray<ReadonlyArray<number>>

/** Sums in the making. Amounts stay in nano-USD until the end, so that they are exact. */
export class SeriesBuilder {
  readonly #starts: ReadonlyArray<number>
  readonly #sums: ReadonlyArray<Array<number>>
  readonly #latencies: Array<Latencies | null>

  constructor(starts: ReadonlyArray<number>) {
    this.#starts = starts
    this.#sums = Array.from({ length: 6 }, () => starts.map(() => 0))
    this.#latencies = starts.map(() => null)
  }

  /** Adds the points of a key, as the database has written them. */
  add(points: string): void {
    for (const point of pointsIn(points)) this.#addPoint(point)
  }

  #addPoint(point: ReadonlyArray<number>): void {
    const [at = 0, requests, failed, tokensIn, tokensOut, cacheRead, nano = 0, parts = 0, least = 0, most = 0] = point
    const place = placeOf(this.#starts, at)
    if (place < 0) return
    const values = [requests, failed, tokensIn, tokensOut, cacheRead, nano + parts / nanoUsdParts]
    for (const [index, value = 0] of values.entries()) {
      const sums = this.#sums[index]
      if (sums !== undefined) sums[place] = (sums[place] ?? 0) + value
    }
    const latencies = (this.#latencies[place] ??= noLatencies())
    latencies.leastMs = Math.min(latencies.leastMs, least)
    latencies.mostMs = Math.max(latencies.mostMs, most)
    for (let index = 0; index <= latencyBounds.length; index += 1) {
      latencies.counts[index] = (latencies.counts[index] ?? 0) + (point[10 + index] ?? 0)
    }
  }

  /** Adds the sums of another series of the same steps. */
  addAll(other: SeriesBuilder): void {
    for (const [index, sums] of this.#sums.entries()) {
      for (const [place, value] of (other.#sums[index] ?? []).entries()) sums[place] = (sums[place] ?? 0) + value
    }
    for (const [place, theirs] of other.#latencies.entries()) {
      if (theirs === null) continue
      const own = (this.#latencies[place] ??= noLatencies())
      own.leastMs = Math.min(own.leastMs, theirs.leastMs)
      own.mostMs = Math.max(own.mostMs, theirs.mostMs)
      for (const [index, count] of theirs.counts.entries()) own.counts[index] = (own.counts[index] ?? 0) + count
    }
  }

  sums(): StepSums {
    const [requests = [], failed = [], tokensIn = [], tokensOut = [], cacheRead = [], nano = []] = this.#sums
    const percentiles = (part: number) =>
      this.#latencies.map((latencies) => (latencies === null ? null : percentile(latencies, part)))
    return {
      requests,
      failed,
      tokensIn,
      tokensOut,
      cacheRead,
      costUsd: nano.map((each) => each / nanoUsdPerUsd),
      p50Ms: percentiles(0.5),
      p95Ms: percentiles(0.95)
    }
  }
}
