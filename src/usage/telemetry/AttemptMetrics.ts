/**
 * Counts calls to upstreams by provider, because a fallback hides failed calls from the count of requests. Series are bounded;
 * providers beyond the limit are counted together.
 */
import type { AttemptRecord } from "../../domain/Decision.ts"
import type { MetricsSnapshot, NumberSample } from "./Families.ts"
import { clean } from "./Summary.ts"

/** How many providers are counted by name. */
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

export const make = (): AttemptMetrics => {
  /** By provider, then outcome and status class, of which there are few. */
  const table = new Map<string, Map<string, { readonly labels: NumberSample["labels"]; value: number }>>()

  const seriesOf = (provider: string) => {
    const name = table.has(provider) || table.size < maxProviders ? provider : "other"
    const known = table.get(name)
    if (known !== undefined) return { name, series: known }
    const series = new Map<string, { readonly labels: NumberSample["labels"]; value: number }>()
    table.set(name, series)
    return { name, series }
  }

  return {
    observe: (attempts) => {
      for (const { outcome, provider, status } of attempts) {
        const { name, series } = seriesOf(clean(provider, maxLabelLength))
        const status_class = statusClass(status)
        const key = `${outcome} ${status_class}`
        const known = series.get(key)
        if (known === undefined) series.set(key, { labels: { provider: name, outcome, status_class }, value: 1 })
        else known.value += 1
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
