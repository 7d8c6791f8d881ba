/** The last calls of one key: a ring of samples, and what it says of them. Times are milliseconds. */
import type { Performance } from "../candidate/Candidate.ts"
import { Sorted } from "./Sorted.ts"

/** Samples kept of one key. */
export const maxSamples = 200

/** Time in ms for which a sample counts. */
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

/**
 * Computes the milliseconds in which the tokens came: after the first of them. For an upstream that sends nearly everything
 * in one piece it is the whole call.
 */
const generationMs = (latencyMs: number, ttftMs: number): number =>
  latencyMs - ttftMs > latencyMs / 10 ? latencyMs - ttftMs : latencyMs

/**
 * Number of samples without a reading after which the sorted order is no longer maintained; the next reading sorts
 * anew.
 */
const keptUpFor = 8

/** A class, because there is one per model of a connection and every decision reads it. */
export class Series {
  #room = firstRoom
  #samples = new Float64Array(firstRoom * stride)
  #failed = new Uint8Array(firstRoom)
  #start = 0
  #count = 0
  #known: Performance | null = null
  #isStale = true
  /** The oldest sample leaves the window then. */
  #untilMs = Number.POSITIVE_INFINITY
  /** Latencies of good answers, and times to the first token, while `#unread` is small. */
  readonly #latencies = new Sorted(firstRoom)
  readonly #firsts = new Sorted(firstRoom)
  #unread = keptUpFor

  /** Hot: nothing is allocated but the ring's own growth. */
  add({ atMs, latencyMs, ok, outputTokens, ttftMs }: Measured): void {
    if (this.#count === this.#room && this.#room < maxSamples) this.#grow()
    this.#unread = Math.min(keptUpFor, this.#unread + 1)
    if (this.#count === this.#room) this.#dropOldest()
    this.#count += 1
    const place = this.#placeOf(this.#count - 1)
    const firstMs = ok ? (ttftMs ?? Number.NaN) : Number.NaN
    this.#samples[place * stride] = atMs
    this.#samples[place * stride + 1] = latencyMs
    this.#samples[place * stride + 2] = firstMs
    this.#samples[place * stride + 3] = ok ? (outputTokens ?? Number.NaN) : Number.NaN
    this.#failed[place] = ok ? 0 : 1
    this.#isStale = true
    if (!this.#isKeptUp()) return
    if (ok) this.#latencies.insert(latencyMs)
    if (!Number.isNaN(firstMs)) this.#firsts.insert(firstMs)
  }

  /** Hot: the same object until something changes. Null without a sample in the window. */
  read(nowMs: number): Performance | null {
    return !this.#isStale && nowMs < this.#untilMs ? this.#known : this.#readAnew(nowMs)
  }

  /** Epoch milliseconds until which the time alone changes nothing of what was read last. */
  holdsUntilMs(): number {
    return this.#untilMs
  }

  #readAnew(nowMs: number): Performance | null {
    while (this.#count > 0 && this.#at(0, 0) <= nowMs - windowMs) this.#dropOldest()
    this.#untilMs = this.#count === 0 ? Number.POSITIVE_INFINITY : this.#at(0, 0) + windowMs
    if (!this.#isKeptUp()) this.#putInOrder()
    this.#unread = 0
    this.#known = this.#work()
    this.#isStale = false
    return this.#known
  }

  #isKeptUp(): boolean {
    return this.#unread < keptUpFor
  }

  #placeOf(index: number): number {
    return (this.#start + index) % this.#room
  }

  #at(index: number, field: number): number {
    return this.#samples[this.#placeOf(index) * stride + field] ?? Number.NaN
  }

  #isFailed(index: number): boolean {
    return this.#failed[this.#placeOf(index)] === 1
  }

  #dropOldest(): void {
    if (this.#isKeptUp()) {
      const firstMs = this.#at(0, 2)
      if (!this.#isFailed(0)) this.#latencies.remove(this.#at(0, 1))
      if (!Number.isNaN(firstMs)) this.#firsts.remove(firstMs)
    }
    this.#start = (this.#start + 1) % this.#room
    this.#count -= 1
  }

  #putInOrder(): void {
    this.#latencies.clear()
    this.#firsts.clear()
    for (let index = 0; index < this.#count; index += 1) {
      const firstMs = this.#at(index, 2)
      if (!this.#isFailed(index)) this.#latencies.push(this.#at(index, 1))
      if (!Number.isNaN(firstMs)) this.#firsts.push(firstMs)
    }
    this.#latencies.sort()
    this.#firsts.sort()
  }

  #grow(): void {
    const larger = Math.min(maxSamples, this.#room * 2)
    const samples = new Float64Array(larger * stride)
    const failed = new Uint8Array(larger)
    for (let index = 0; index < this.#count; index += 1) {
      const place = this.#placeOf(index)
      samples.set(this.#samples.subarray(place * stride, (place + 1) * stride), index * stride)
      failed[index] = this.#failed[place] ?? 0
    }
    this.#samples = samples
    this.#failed = failed
    this.#room = larger
    this.#start = 0
  }

  #speed(): number | null {
    let tokens = 0
    let ms = 0
    for (let index = 0; index < this.#count; index += 1) {
      const made = this.#at(index, 3)
      if (Number.isNaN(made)) continue
      const firstMs = this.#at(index, 2)
      tokens += made
      ms += Number.isNaN(firstMs) ? this.#at(index, 1) : generationMs(this.#at(index, 1), firstMs)
    }
    return ms > 0 ? (tokens * 1000) / ms : null
  }

  /**
   * Returns the durations of failures. They do not show how quickly it answers; but where nothing else is known, they
   * are used.
   */
  #failures(): Sorted {
    const failures = new Sorted(this.#count)
    for (let index = 0; index < this.#count; index += 1) failures.push(this.#at(index, 1))
    failures.sort()
    return failures
  }

  #work(): Performance | null {
    if (this.#count === 0) return null
    const served = this.#latencies.length
    const latencies = served > 0 ? this.#latencies : this.#failures()
    return {
      samples: this.#count,
      p50Ms: latencies.percentile(0.5),
      p95Ms: latencies.percentile(0.95),
      deviationMs: latencies.deviation(),
      errorRate: (this.#count - served) / this.#count,
      ttftMs: this.#firsts.length === 0 ? null : this.#firsts.percentile(0.5),
      tokensPerSecond: this.#speed()
    }
  }
}
