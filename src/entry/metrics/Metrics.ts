/** The Prometheus page (`GET /metrics`): metric families as text in exposition format 0.0.4. Pure. */
import type { HistogramFamily, Labels, MetricFamily, MetricsSnapshot } from "../../observe/usage/telemetry/Families.ts"

export const contentType = "text/plain; version=0.0.4; charset=utf-8"

const escapeHelp = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n")
const escapeLabel = (text: string): string => escapeHelp(text).replaceAll('"', '\\"')

const number = (value: number): string => {
  if (value === Number.POSITIVE_INFINITY) return "+Inf"
  return value === Number.NEGATIVE_INFINITY ? "-Inf" : String(value)
}

const pairs = (labels: Labels): ReadonlyArray<string> =>
  Object.entries(labels).map(([name, value]) => `${name}="${escapeLabel(value)}"`)

const sample = (name: string, labels: ReadonlyArray<string>, value: number): string =>
  `${name}${labels.length === 0 ? "" : `{${labels.join(",")}}`} ${number(value)}`

/** Buckets are cumulative on the page, and the last one counts everything. */
const histogramLines = ({ name, bounds, samples }: HistogramFamily): ReadonlyArray<string> =>
  samples.flatMap(({ labels, counts, sum }) => {
    const common = pairs(labels)
    let total = 0
    const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, index) => {
      total += counts[index] ?? 0
      return sample(`${name}_bucket`, [...common, `le="${number(bound)}"`], total)
    })
    return [...buckets, sample(`${name}_sum`, common, sum), sample(`${name}_count`, common, total)]
  })

const samples = (family: MetricFamily): ReadonlyArray<string> =>
  family.type === "histogram"
    ? histogramLines(family)
    : family.samples.map(({ labels, value }) => sample(family.name, pairs(labels), value))

const page = (family: MetricFamily): string => {
  const { name, help, type } = family
  return `# HELP ${name} ${escapeHelp(help)}\n# TYPE ${name} ${type}\n${samples(family).join("\n")}\n`
}

/** The whole page. Families without samples are left out. */
export const renderPrometheus = (snapshot: MetricsSnapshot): string =>
  snapshot
    .filter((family) => family.samples.length > 0)
    .map(page)
    .join("")
