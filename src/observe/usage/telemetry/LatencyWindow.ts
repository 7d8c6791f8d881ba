/**
 * Durations of the latest requests, in all and by phase, in a ring of numbers: nothing is allocated for a request. Percentiles are
 * computed when they are asked for.
 */
import type { RequestSummary } from "./Summary.ts"

export interface Percentiles {
  readonly count: number
  /** Milliseconds. */
  readonly p50: number
  readonly p95: number
  readonly p99: number
}

/**
 * `resolve`: from arrival to the first call (reading, access, routing); `failover`: from there to the call that answered; `connect`: from
 * there to the first content; `stream`: from there to the end.
 */
export const phases = ["resolve", "failover", "connect", "stream"] as const
export type Phase = (typeof phases)[number]

export interface LatencySummary {
  /** Milliseconds that the numbers cover: less than was asked for when more requests ended in them than are remembered. */
  readonly coveredMs: number
  readonly requests: number
  /** The part of the requests that failed, from 0 to 1; those that the client left are no failures. */
  readonly errorRate: number
  readonly providers: ReadonlyArray<Percentiles & { readonly provider: string }>
  readonly phases: ReadonlyArray<Percentiles & { readonly phase: Phase }>
}

/** Requests that are remembered. */
export const capacity = 16_384
/** Most providers that are distinguished; further ones are `other`. */
const maxProviders = 1_000
const none = Number.NaN

const rank = (sorted: Float32Array, part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.ceil(part * sorted.length) - 1)] ?? 0

const percentilesOf = (values: ReadonlyArray<number>): Percentiles => {
  const sorted = Float32Array.from(values).sort()
  const at = (part: number) => Math.round(rank(sorted, part))
  return { count: sorted.length, p50: at(0.5), p95: at(0.95), p99: at(0.99) }
}

export class LatencyWindow {
  readonly #endedMs = new Float64Array(capacity)
  readonly #totalMs = new Float32Array(capacity)
  readonly #phasesMs = phases.map(() => new Float32Array(capacity))
  readonly #provider = new Uint16Array(capacity)
  readonly #failed = new Uint8Array(capacity)
  readonly #providers = new Map<string, number>([
    ["other", 0],
    ["none", 1]
  ])
  #added = 0

  #numberOf(provider: string | null): number {
    const name = provider ?? "none"
    const known = this.#providers.get(name)
    if (known !== undefined) return known
    if (this.#providers.size >= maxProviders) return 0
    this.#providers.set(name, this.#providers.size)
    return this.#providers.size - 1
  }

  /** Hot. */
  add({ attempts, row }: Pick<RequestSummary, "attempts" | "row">): void {
    const at = this.#added % capacity
    const { latencyMs, timestampMs, ttftMs } = row
    this.#added += 1
    this.#endedMs[at] = timestampMs + latencyMs
    this.#totalMs[at] = latencyMs
    this.#provider[at] = this.#numberOf(row.provider)
    this.#failed[at] = row.outcome === "failed" ? 1 : 0
    const first = attempts?.[0]
    const last = attempts?.at(-1)
    const resolveMs = first === undefined ? latencyMs : Math.max(0, first.startedMs - timestampMs)
    const failoverMs =
      first === undefined || last === first || last === undefined ? none : last.startedMs - first.startedMs
    const callMs = last === undefined ? none : last.startedMs - timestampMs
    const [resolve, failover, connect, stream] = this.#phasesMs
    if (resolve !== undefined) resolve[at] = resolveMs
    if (failover !== undefined) failover[at] = failoverMs
    if (connect !== undefined) connect[at] = ttftMs === null ? none : Math.max(0, ttftMs - callMs)
    if (stream !== undefined) stream[at] = ttftMs === null ? none : Math.max(0, latencyMs - ttftMs)
  }

  read(windowMs: number, nowMs: number): LatencySummary {
    const sinceMs = nowMs - windowMs
    const byProvider = new Map<number, Array<number>>()
    const byPhase = phases.map((): Array<number> => [])
    const remembered = Math.min(this.#added, capacity)
    let requests = 0
    let failed = 0
    let oldestMs = nowMs
    for (let back = 1; back <= remembered; back += 1) {
      const at = (this.#added - back) % capacity
      const endedMs = this.#endedMs[at] ?? 0
      if (endedMs < sinceMs) continue
      oldestMs = Math.min(oldestMs, endedMs)
      requests += 1
      failed += this.#failed[at] ?? 0
      const provider = this.#provider[at] ?? 0
      const known = byProvider.get(provider)
      if (known === undefined) byProvider.set(provider, [this.#totalMs[at] ?? 0])
      else known.push(this.#totalMs[at] ?? 0)
      this.#phasesMs.forEach((phase, index) => {
        const value = phase[at] ?? none
        if (!Number.isNaN(value)) byPhase[index]?.push(value)
      })
    }
    const names = [...this.#providers.keys()]
    const isWhole = requests < capacity
    return {
      coveredMs: isWhole ? windowMs : Math.max(0, nowMs - oldestMs),
      requests,
      errorRate: requests === 0 ? 0 : failed / requests,
      providers: Array.from(byProvider, ([number, values]) =>
        Object.assign({ provider: names[number] ?? "other" }, percentilesOf(values))
      ).toSorted((one, other) => other.count - one.count),
      phases: phases.map((phase, index) => Object.assign({ phase }, percentilesOf(byPhase[index] ?? [])))
    }
  }
}
