/** The last calls of one key: a ring of samples, and what it says of them. Times are milliseconds. */
import type { Performance } from "../candidate/Candidate.ts"

/** Samples kept of one key. */
export const maxSamples = 200

/** How long a sample speaks. */
export const windowMs = 3_600_000

export interface Measured {
  readonly ok: boolean
  readonly latencyMs: number
  readonly ttftMs: number | null
  readonly outputTokens: number | null
  readonly atMs: number
}

/** Initial capacity of a key; most keys never need more. */
const firstRoom = 16

/** Numbers of one sample, side by side: time, latency, time to first token, output tokens (NaN: not known). */
const stride = 4

/** Percentile by nearest rank, of ascending numbers. */
export const percentile = (sorted: Float64Array, fraction: number): number =>
  sorted[Math.max(0, Math.ceil(fraction * sorted.length) - 1)] ?? 0

/** Scratch for sorting: reading is synchronous, so one is enough. */
const scratch = new Float64Array(maxSamples)

const sortedOf = (length: number): Float64Array => scratch.subarray(0, length).sort()

const deviationOf = (values: Float64Array): number => {
  let sum = 0
  for (const value of values) sum += value
  const mean = sum / values.length
  let squares = 0
  for (const value of values) squares += (value - mean) ** 2
  return Math.sqrt(squares / values.length)
}

/**
 * Milliseconds in which the tokens came: after the first of them. An upstream that sends nearly everything in one piece tells
 * nothing by that; then it is the whole call.
 */
const generationMs = (latencyMs: number, ttftMs: number): number =>
  latencyMs - ttftMs > latencyMs / 10 ? latencyMs - ttftMs : latencyMs

export interface Series {
  /** Hot: amortised constant time, nothing is allocated but the ring's own growth. */
  readonly add: (sample: Measured) => void
  /** Hot: worked out once until something changes. Null without a sample in the window. */
  readonly read: (nowMs: number) => Performance | null
}

export const makeSeries = (): Series => {
  let room = firstRoom
  let samples = new Float64Array(room * stride)
  let failed = new Uint8Array(room)
  let start = 0
  let count = 0
  let known: Performance | null = null
  let stale = true
  /** The oldest sample leaves the window then. */
  let untilMs = Number.POSITIVE_INFINITY

  const placeOf = (index: number): number => (start + index) % room
  const at = (index: number, field: number): number => samples[placeOf(index) * stride + field] ?? Number.NaN
  const isFailed = (index: number): boolean => failed[placeOf(index)] === 1

  const grow = (): void => {
    const larger = Math.min(maxSamples, room * 2)
    const nextSamples = new Float64Array(larger * stride)
    const nextFailed = new Uint8Array(larger)
    for (let index = 0; index < count; index += 1) {
      const place = placeOf(index)
      nextSamples.set(samples.subarray(place * stride, (place + 1) * stride), index * stride)
      nextFailed[index] = failed[place] ?? 0
    }
    samples = nextSamples
    failed = nextFailed
    room = larger
    start = 0
  }

  const add = ({ atMs, latencyMs, ok, outputTokens, ttftMs }: Measured): void => {
    if (count === room && room < maxSamples) grow()
    if (count === room) start = (start + 1) % room
    else count += 1
    const place = placeOf(count - 1)
    samples[place * stride] = atMs
    samples[place * stride + 1] = latencyMs
    samples[place * stride + 2] = ok ? (ttftMs ?? Number.NaN) : Number.NaN
    samples[place * stride + 3] = ok ? (outputTokens ?? Number.NaN) : Number.NaN
    failed[place] = ok ? 0 : 1
    stale = true
  }

  const dropOld = (nowMs: number): void => {
    while (count > 0 && at(0, 0) <= nowMs - windowMs) {
      start = (start + 1) % room
      count -= 1
    }
    untilMs = count === 0 ? Number.POSITIVE_INFINITY : at(0, 0) + windowMs
  }

  /** Fills the scratch with a field of those that are wanted, and gives how many there were. */
  const gather = (field: number, wanted: (index: number) => boolean): number => {
    let length = 0
    for (let index = 0; index < count; index += 1) {
      const value = at(index, field)
      if (Number.isNaN(value) || !wanted(index)) continue
      scratch[length] = value
      length += 1
    }
    return length
  }

  const speed = (): number | null => {
    let tokens = 0
    let ms = 0
    for (let index = 0; index < count; index += 1) {
      const made = at(index, 3)
      const firstMs = at(index, 2)
      if (Number.isNaN(made)) continue
      tokens += made
      ms += Number.isNaN(firstMs) ? at(index, 1) : generationMs(at(index, 1), firstMs)
    }
    return ms > 0 ? (tokens * 1000) / ms : null
  }

  const work = (): Performance | null => {
    if (count === 0) return null
    const served = gather(1, (index) => !isFailed(index))
    // How quickly it fails says nothing of how quickly it answers; but where nothing else is known, it is what was measured.
    const latencies = sortedOf(served > 0 ? served : gather(1, () => true))
    const p50Ms = percentile(latencies, 0.5)
    const p95Ms = percentile(latencies, 0.95)
    const deviationMs = deviationOf(latencies)
    const firsts = gather(2, () => true)
    return {
      samples: count,
      p50Ms,
      p95Ms,
      deviationMs,
      errorRate: (count - served) / count,
      ttftMs: firsts === 0 ? null : percentile(sortedOf(firsts), 0.5),
      tokensPerSecond: speed()
    }
  }

  const read = (nowMs: number): Performance | null => {
    if (!stale && nowMs < untilMs) return known
    dropOld(nowMs)
    known = work()
    stale = false
    return known
  }

  return { add, read }
}
