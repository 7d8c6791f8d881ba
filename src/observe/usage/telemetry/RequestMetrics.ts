/**
 * Counts and histograms per label tuple, as plain numbers. After the first request of a tuple nothing is allocated. Tuples are bounded, and a model that is in no catalogue is `other`: its name comes from a caller.
 */
import { nanoUsdPerUsd } from "../../../contract/domain/Usage.ts"
import type { UsageRow } from "../../../contract/domain/Usage.ts"
import { PerFacts } from "../../../contract/domain/UsageFacts.ts"
import type { HistogramFamily, HistogramSample, Labels, MetricsSnapshot } from "./Families.ts"
import { count, type KeyCounts, KeyMetrics } from "./KeyMetrics.ts"
import { clean } from "./Summary.ts"

/** Label tuples kept in all. */
export const maxSeries = 500
/** wires × outcomes × status classes: the most series that "other" can have, reserved within `maxSeries`. */
const otherSeries = 5 * 3 * 5
const maxLabelLength = 100

const secondBounds = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
const tokenBounds = [1, 4, 16, 64, 256, 1024, 4096, 16_384, 65_536, 262_144, 1_048_576]
const usdBounds = [0.00001, 0.0001, 0.001, 0.01, 0.1, 1, 10]

interface Histogram {
  readonly counts: Float64Array
  observed: number
  sum: number
}

interface Series {
  readonly labels: Labels
  requests: number
  readonly duration: Histogram
  readonly ttft: Histogram
  readonly tokensIn: Histogram
  readonly tokensOut: Histogram
  readonly cost: Histogram
}

const histogram = (bounds: ReadonlyArray<number>): Histogram => ({
  counts: new Float64Array(bounds.length + 1),
  observed: 0,
  sum: 0
})

const record = (into: Histogram, bounds: ReadonlyArray<number>, value: number): void => {
  let bucket = 0
  for (const bound of bounds) {
    if (value <= bound) break
    bucket++
  }
  into.counts[bucket] = (into.counts[bucket] ?? 0) + 1
  into.observed++
  into.sum += value
}

const series = (labels: Labels): Series => ({
  labels,
  requests: 0,
  duration: histogram(secondBounds),
  ttft: histogram(secondBounds),
  tokensIn: histogram(tokenBounds),
  tokensOut: histogram(tokenBounds),
  cost: histogram(usdBounds)
})

const always = (): boolean => true

const label = (value: string | null): string => (value === null ? "none" : clean(value, maxLabelLength))

const statusClass = (status: number): string => `${Math.min(5, Math.max(1, Math.floor(status / 100)))}xx`

/** Copies, so that a snapshot does not change later. Empty histograms are left out. */
const sample = (from: Histogram, labels: Labels): ReadonlyArray<HistogramSample> =>
  from.observed === 0 ? [] : [{ labels, counts: from.counts.slice(), sum: from.sum }]

const family = (
  name: string,
  help: string,
  bounds: ReadonlyArray<number>,
  samples: ReadonlyArray<HistogramSample>
): HistogramFamily => ({ type: "histogram", name, help, bounds, samples })

export interface RequestMetrics {
  /** Hot. `isListed` says whether the row's model is one of the catalogue. */
  readonly observe: (row: UsageRow, isListed?: () => boolean) => void
  readonly snapshot: () => MetricsSnapshot
  /** Lists the counts by API key. */
  readonly keys: () => ReadonlyArray<Readonly<KeyCounts>>
}

export const make = (): RequestMetrics => {
  const table = new Map<string, Series>()
  const keys = new KeyMetrics()
  /** The series of rows, once it is a series of their own: a model that is counted as other may be listed later. */
  const found = new PerFacts(({ apiKeyId }): { own: Series | null; readonly key: KeyCounts } => ({
    own: null,
    key: keys.of(apiKeyId)
  }))

  const seriesOf = (row: UsageRow, isListed: () => boolean): Series => {
    const status_class = statusClass(row.status)
    const rest = `${row.sourceWire}\n${row.outcome}\n${status_class}`
    let provider = label(row.provider)
    let model = label(row.model)
    let known = table.get(`${provider}\n${model}\n${rest}`)
    if (known === undefined && row.model !== null && !isListed()) {
      model = "other"
      known = table.get(`${provider}\nother\n${rest}`)
    }
    if (known === undefined && table.size >= maxSeries - otherSeries) {
      provider = model = "other"
      known = table.get(`other\nother\n${rest}`)
    }
    if (known !== undefined) return known
    const added = series({ provider, model, wire: row.sourceWire, outcome: row.outcome, status_class })
    table.set(`${provider}\n${model}\n${rest}`, added)
    return added
  }

  const observe = (row: UsageRow, isListed: () => boolean = always): void => {
    const known = found.of(row)
    const to = known.own ?? seriesOf(row, isListed)
    if (known.own === null && to.labels["model"] === label(row.model)) known.own = to
    to.requests++
    count(known.key, row)
    record(to.duration, secondBounds, row.latencyMs / 1000)
    if (row.ttftMs !== null) record(to.ttft, secondBounds, row.ttftMs / 1000)
    if (row.tokens.in > 0) record(to.tokensIn, tokenBounds, row.tokens.in)
    if (row.tokens.out > 0) record(to.tokensOut, tokenBounds, row.tokens.out)
    // An unpriced answer costs an unknown amount, which is not nothing.
    if (row.priced) record(to.cost, usdBounds, row.costNanoUsd / nanoUsdPerUsd)
  }

  const snapshot = (): MetricsSnapshot => {
    const all = [...table.values()]
    return [
      {
        type: "counter",
        name: "gateway_requests_total",
        help: "Finished inference requests.",
        samples: all.map((one) => ({ labels: one.labels, value: one.requests }))
      },
      family(
        "gateway_request_duration_seconds",
        "Time from arrival to the end of the answer.",
        secondBounds,
        all.flatMap((one) => sample(one.duration, one.labels))
      ),
      family(
        "gateway_time_to_first_token_seconds",
        "Time from arrival to the first content.",
        secondBounds,
        all.flatMap((one) => sample(one.ttft, one.labels))
      ),
      family(
        "gateway_request_tokens",
        "Tokens per request.",
        tokenBounds,
        all.flatMap((one) => [
          ...sample(one.tokensIn, { ...one.labels, type: "input" }),
          ...sample(one.tokensOut, { ...one.labels, type: "output" })
        ])
      ),
      family(
        "gateway_request_cost_usd",
        "Cost per priced request.",
        usdBounds,
        all.flatMap((one) => sample(one.cost, one.labels))
      )
    ]
  }

  return { observe, snapshot, keys: () => keys.list() }
}
