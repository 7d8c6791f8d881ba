/**
 * Counts calls to upstreams by provider, because a fallback hides failed calls from the count of requests. Series are bounded;
 * providers beyond the limit are counted together.
 */
import type { AttemptRecord } from "../../../subjects/routing/entity.ts"
import { LruMap } from "../../../kernel/collections/LruMap.ts"
import type { MetricsSnapshot, NumberSample } from "./Families.ts"
import { clean } from "./Summary.ts"

/** Most providers that are counted by name. */
export const maxProviders = 1_000
const maxLabelLength = 100

/** `none` where no status arrived. */
const statusClass = (status: number | null): string =>
  status === null ? "none" : `${Math.min(5, Math.max(1, Math.floor(status / 100)))}xx`

export interface AttemptMetrics {
  /** Hot. */
  readonly observe: (attempts: ReadonlyArray<AttemptRecord>) => void
  readonly snapshot: () => MetricsSnapshot
}

interface Series {
  readonly labels: NumberSample["labels"]
  value: number
}

interface Latest extends Pick<AttemptRecord, "outcome" | "status"> {
  readonly series: Series
}

export const make = (): AttemptMetrics => {
  /** Series by provider, then outcome and status class, of which there are few. */
  const table = new Map<string, Map<string, Series>>()
  /** The series of each provider's latest attempt, by the provider's name as it came. */
  const latest = new LruMap<string, Latest>({ capacity: maxProviders })

  const ofProvider = (provider: string) => {
    const name = table.has(provider) || table.size < maxProviders ? provider : "other"
    const known = table.get(name)
    if (known !== undefined) return { name, series: known }
    const series = new Map<string, Series>()
    table.set(name, series)
    return { name, series }
  }

  const seriesOf = ({ outcome, provider, status }: AttemptRecord): Series => {
    const { name, series } = ofProvider(clean(provider, maxLabelLength))
    const status_class = statusClass(status)
    const key = `${outcome} ${status_class}`
    const known = series.get(key)
    if (known !== undefined) return known
    const added = { labels: { provider: name, outcome, status_class }, value: 0 }
    series.set(key, added)
    return added
  }

  return {
    observe: (attempts) => {
      for (const attempt of attempts) {
        const { outcome, provider, status } = attempt
        const last = latest.peek(provider)
        if (last !== undefined && last.outcome === outcome && last.status === status) {
          last.series.value += 1
          continue
        }
        const series = seriesOf(attempt)
        series.value += 1
        latest.set(provider, { outcome, status, series })
      }
    },
    snapshot: () => [
      {
        type: "counter",
        name: "gateway_upstream_attempts_total",
        help: "Calls to upstreams, also those another one made good.",
        samples: [...table.values()].flatMap((series) =>
          [...series.values()].map(({ labels, value }) => ({ labels, value }))
        )
      }
    ]
  }
}
