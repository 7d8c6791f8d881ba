/** The sums of a second (channel `stats`): of every request that ended in it, whatever else is told of them. Plain state. */
import { nanoUsdPerUsd, type UsageRow } from "../../contract/domain/Usage.ts"

/** Providers with sums of their own; those with the most requests come first, the others are taken together. */
export const mostProviders = 20

export interface Sums {
  readonly completed: number
  readonly failed: number
  readonly aborted: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly costUsd: number
  /** Null: no request ended. */
  readonly p50Ms: number | null
  readonly p95Ms: number | null
}

/** `provider`: null: no provider served them. */
export interface ProviderSums extends Sums {
  readonly provider: string | null
}

/** Requests now, and what was decided since the start. */
export interface Gauges {
  readonly inflight: number
  readonly started: number
}

export interface StatsFrame extends Sums {
  readonly inflight: number
  readonly started: number
  readonly byProvider: ReadonlyArray<ProviderSums>
  /** The other providers; null: there are none. */
  readonly rest: Sums | null
}

class Adding {
  completed = 0
  failed = 0
  aborted = 0
  tokensIn = 0
  tokensOut = 0
  costNanoUsd = 0
  readonly latencies: Array<number> = []

  add({ costNanoUsd, latencyMs, outcome, tokens }: UsageRow): void {
    this[outcome] += 1
    this.tokensIn += tokens.in
    this.tokensOut += tokens.out
    this.costNanoUsd += costNanoUsd
    this.latencies.push(latencyMs)
  }

  join(other: Adding): void {
    this.completed += other.completed
    this.failed += other.failed
    this.aborted += other.aborted
    this.tokensIn += other.tokensIn
    this.tokensOut += other.tokensOut
    this.costNanoUsd += other.costNanoUsd
    for (const latency of other.latencies) this.latencies.push(latency)
  }

  sums(): Sums {
    const sorted = Float64Array.from(this.latencies).toSorted()
    const at = (part: number): number | null => sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? null
    const { aborted, completed, costNanoUsd, failed, tokensIn, tokensOut } = this
    return {
      completed,
      failed,
      aborted,
      tokensIn,
      tokensOut,
      costUsd: costNanoUsd / nanoUsdPerUsd,
      p50Ms: at(0.5),
      p95Ms: at(0.95)
    }
  }
}

const joined = (all: ReadonlyArray<Adding>): Adding => {
  const sum = new Adding()
  for (const each of all) sum.join(each)
  return sum
}

export interface Stats {
  /** Hot. */
  readonly add: (row: UsageRow) => void
  /** The second is over. */
  readonly take: (now: Gauges) => StatsFrame
  /** Forgets what was added: a new first second begins. */
  readonly begin: (now: Gauges) => void
}

export const makeStats = (): Stats => {
  let byProvider = new Map<string | null, Adding>()
  let startedBefore = 0

  return {
    add: (row) => {
      const known = byProvider.get(row.provider)
      const adding = known ?? new Adding()
      if (known === undefined) byProvider.set(row.provider, adding)
      adding.add(row)
    },
    take: ({ inflight, started }) => {
      const ranked = [...byProvider].toSorted(([, one], [, other]) => other.latencies.length - one.latencies.length)
      const own = ranked.slice(0, mostProviders)
      const others = ranked.slice(mostProviders).map(([, each]) => each)
      const frame: StatsFrame = {
        inflight,
        started: started - startedBefore,
        ...joined(ranked.map(([, each]) => each)).sums(),
        byProvider: own.map(([provider, each]) => Object.assign({ provider }, each.sums())),
        rest: others.length === 0 ? null : joined(others).sums()
      }
      byProvider = new Map()
      startedBefore = started
      return frame
    },
    begin: ({ started }) => {
      byProvider = new Map()
      startedBefore = started
    }
  }
}
