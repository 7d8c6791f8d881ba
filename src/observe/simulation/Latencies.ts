/** Durations of which exact percentiles are asked for. They are kept in short sorted runs, so that no step takes long however many there are. */
import { percentile } from "./Distributions.ts"

const runLength = 4_096

/** Number of values of a sorted run that are at most `value`. */
const atMost = (run: Float64Array, value: number): number => {
  let low = 0
  let high = run.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((run[middle] ?? 0) <= value) low = middle + 1
    else high = middle
  }
  return low
}

export class Latencies {
  readonly #runs: Array<Float64Array> = []
  #latest: Array<number> = []

  add(valueMs: number): void {
    this.#latest.push(valueMs)
    if (this.#latest.length === runLength) this.#sort()
  }

  /** Percentile by nearest rank; null of nothing. */
  percentile(part: number): number | null {
    if (this.#runs.length === 0) return percentile(Float64Array.from(this.#latest).sort(), part)
    if (this.#latest.length > 0) this.#sort()
    const count = this.#runs.reduce((sum, { length }) => sum + length, 0)
    return this.#ranked(Math.max(1, Math.ceil(count * part)))
  }

  #sort(): void {
    this.#runs.push(Float64Array.from(this.#latest).sort())
    this.#latest = []
  }

  #countAtMost(value: number): number {
    return this.#runs.reduce((sum, run) => sum + atMost(run, value), 0)
  }

  /** The smallest value that so many are at most: halves the range until no two values are left between its ends. */
  #ranked(rank: number): number {
    let low = -1
    let high = this.#runs.reduce((most, run) => Math.max(most, run.at(-1) ?? 0), 0)
    for (;;) {
      const middle = low + (high - low) / 2
      if (middle <= low || middle >= high) break
      if (this.#countAtMost(middle) >= rank) high = middle
      else low = middle
    }
    return this.#runs.reduce((least, run) => Math.min(least, run[atMost(run, low)] ?? least), Number.POSITIVE_INFINITY)
  }
}
