/** Counts the calls of one plugin. A class, because it is updated for each call. */
import type { PluginAction } from "../../../subjects/routing/entity.ts"

/** Milliseconds of waiting calls; null before the first. */
export interface HookStats {
  readonly calls: number
  readonly blocked: number
  readonly modified: number
  readonly failed: number
  /** Events that found the line full. */
  readonly dropped: number
  readonly p50Ms: number | null
  readonly p99Ms: number | null
}

export const noStats: HookStats = {
  calls: 0,
  blocked: 0,
  modified: 0,
  failed: 0,
  dropped: 0,
  p50Ms: null,
  p99Ms: null
}

/** Adds up the counts of several processes. Times: the mean of the medians by their calls, and the slowest 99th percentile. */
export const summed = (all: ReadonlyArray<HookStats>): HookStats => {
  const sum = (of: (stats: HookStats) => number): number => all.reduce((total, stats) => total + of(stats), 0)
  const timed = all.filter(({ p50Ms }) => p50Ms !== null)
  const timedCalls = timed.reduce((total, { calls }) => total + calls, 0)
  const weighted = timed.reduce((total, { calls, p50Ms }) => total + calls * (p50Ms ?? 0), 0)
  return {
    calls: sum(({ calls }) => calls),
    blocked: sum(({ blocked }) => blocked),
    modified: sum(({ modified }) => modified),
    failed: sum(({ failed }) => failed),
    dropped: sum(({ dropped }) => dropped),
    p50Ms: timedCalls === 0 ? null : rounded(weighted / timedCalls),
    p99Ms: timed.length === 0 ? null : Math.max(...timed.map(({ p99Ms }) => p99Ms ?? 0))
  }
}

/** Number of the latest calls that are sampled. */
const sampled = 512

const at = (sorted: Float64Array, part: number): number | null =>
  sorted.length === 0 ? null : (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? null)

/** Rounds to microseconds: more is no information. */
const rounded = (ms: number | null): number | null => (ms === null ? null : Math.round(ms * 1_000) / 1_000)

export class HookCounts {
  #calls = 0
  #blocked = 0
  #modified = 0
  #failed = 0
  #dropped = 0
  readonly #ms = new Float64Array(sampled)
  #timed = 0

  waited(action: PluginAction, ms: number): void {
    this.#calls += 1
    if (action === "blocked") this.#blocked += 1
    if (action === "modified") this.#modified += 1
    if (action === "failed") this.#failed += 1
    this.#ms[this.#timed % sampled] = ms
    this.#timed += 1
  }

  notified(calls: number, failed: number): void {
    this.#calls += calls
    this.#failed += failed
  }

  dropped(): void {
    this.#dropped += 1
  }

  view(): HookStats {
    const sorted = this.#ms.slice(0, Math.min(this.#timed, sampled)).sort()
    return {
      calls: this.#calls,
      blocked: this.#blocked,
      modified: this.#modified,
      failed: this.#failed,
      dropped: this.#dropped,
      p50Ms: rounded(at(sorted, 0.5)),
      p99Ms: rounded(at(sorted, 0.99))
    }
  }
}
