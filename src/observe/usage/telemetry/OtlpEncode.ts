/** Spans and metrics in OTLP's JSON encoding: 64-bit integers are strings, ids lower-case hex, enumerations numbers. Pure. */
import { createHash } from "node:crypto"
import type { AttemptRecord } from "../../../subjects/routing/entity.ts"
import type { Pairs } from "../../../platform/Pairs.ts"
import type { HistogramFamily, Labels, MetricFamily, MetricsSnapshot } from "./Families.ts"
import { attemptAttributes, labelNames, metricNames, operationName, providerName, spanAttributes } from "./GenAi.ts"
import type { AttributeValue } from "./GenAi.ts"
import { clean } from "./Summary.ts"
import type { RequestSummary } from "./Summary.ts"
import { parseTraceparent } from "./TraceContext.ts"

export interface Resource {
  /** `service.name` and the operator's own attributes. */
  readonly attributes: Pairs
  readonly version: string
}

const spanKindServer = 2
const spanKindClient = 3
const statusError = 2
const cumulative = 2

const nanos = (epochMs: number): string => `${Math.round(epochMs * 1000)}000`

const anyValue = (value: AttributeValue) => {
  if (typeof value === "string") return { stringValue: value }
  if (typeof value === "boolean") return { boolValue: value }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

const attribute = ([key, value]: readonly [string, AttributeValue]) => ({ key, value: anyValue(value) })

const resourceOf = ({ attributes, version }: Resource) => ({
  attributes: [...new Map([["service.version", version], ...attributes])].map(attribute)
})

/** The first `digits` hex digits that stand for an id: its own when it is a UUID, else those of its hash. */
const hexOf = (id: string, digits: 16 | 32): string => {
  const own = id.replaceAll("-", "")
  const hex = /^[0-9a-f]{32}$/u.test(own) ? own : createHash("sha256").update(id).digest("hex").slice(0, 32)
  // The random part of a UUID is at its end.
  return hex.slice(-digits)
}

interface Place {
  readonly traceId: string
  readonly spanId: string
}

/** One call to an upstream, as a child of its request. */
const attemptSpan = (
  row: RequestSummary["row"],
  { spanId, traceId }: Place,
  attempt: AttemptRecord,
  index: number
) => ({
  traceId,
  spanId: hexOf(createHash("sha256").update(`${row.id} ${index}`).digest("hex"), 16),
  parentSpanId: spanId,
  name: `${operationName(row.targetWire ?? row.sourceWire)} ${clean(attempt.model)}`,
  kind: spanKindClient,
  startTimeUnixNano: nanos(attempt.startedMs),
  endTimeUnixNano: nanos(attempt.startedMs + attempt.latencyMs),
  attributes: attemptAttributes(attempt, index).map(attribute),
  status: attempt.outcome === "failed" ? { code: statusError, message: clean(attempt.reason) } : {}
})

/**
 * The request and its calls. Where the client sends no trace, the trace id is the request id, so that it can be found by an answer's
 * `X-Gateway-Request-Id`. A trace that the client does not sample is not recorded here either.
 */
const spansOf = (summary: RequestSummary) => {
  const { attempts = [], row } = summary
  const client = parseTraceparent(summary.traceparent)
  if (client?.sampled === false) return []
  const place = { traceId: client?.traceId ?? hexOf(row.requestId, 32), spanId: hexOf(row.id, 16) }
  const request = {
    ...place,
    ...(client === null ? {} : { parentSpanId: client.parentSpanId }),
    name: `${operationName(row.sourceWire)} ${clean(row.requestedModel)}`,
    kind: spanKindServer,
    startTimeUnixNano: nanos(row.timestampMs),
    endTimeUnixNano: nanos(row.timestampMs + row.latencyMs),
    attributes: spanAttributes(summary).map(attribute),
    status: row.outcome === "failed" ? { code: statusError, message: clean(row.error ?? "failed") } : {}
  }
  return [
    request,
    ...attempts.slice(0, maxAttemptSpans).map((attempt, index) => attemptSpan(row, place, attempt, index))
  ]
}

/** Most spans of one request. */
const maxAttemptSpans = 50

/** Body of `POST /v1/traces`. */
export const encodeTraces = (resource: Resource, summaries: ReadonlyArray<RequestSummary>) => ({
  resourceSpans: [
    {
      resource: resourceOf(resource),
      scopeSpans: [{ scope: { name: "gateway", version: resource.version }, spans: summaries.flatMap(spansOf) }]
    }
  ]
})

const labelValue = (name: string, value: string): string => (name === "provider" ? providerName(value) : value)

const attributesOf = (labels: Labels) => {
  const attributes = Object.entries(labels).map(([name, value]) =>
    attribute([labelNames.get(name) ?? name, labelValue(name, value)])
  )
  const wire = labels["wire"]
  if (wire !== undefined) attributes.push(attribute(["gen_ai.operation.name", operationName(wire)]))
  return attributes
}

interface Interval {
  readonly startTimeUnixNano: string
  readonly timeUnixNano: string
}

const histogramPoints = (family: HistogramFamily, interval: Interval) =>
  family.samples.map(({ labels, counts, sum }) => {
    const buckets = Array.from(counts)
    return {
      ...interval,
      attributes: attributesOf(labels),
      count: String(buckets.reduce((total, count) => total + count, 0)),
      sum,
      bucketCounts: buckets.map(String),
      explicitBounds: family.bounds
    }
  })

const numberPoints = (family: Exclude<MetricFamily, HistogramFamily>, interval: Interval) =>
  family.samples.map(({ labels, value }) => ({ ...interval, attributes: attributesOf(labels), asDouble: value }))

const data = (family: MetricFamily, interval: Interval) => {
  switch (family.type) {
    case "counter":
      return {
        sum: { aggregationTemporality: cumulative, isMonotonic: true, dataPoints: numberPoints(family, interval) }
      }
    case "gauge":
      return { gauge: { dataPoints: numberPoints(family, interval) } }
    case "histogram":
      return { histogram: { aggregationTemporality: cumulative, dataPoints: histogramPoints(family, interval) } }
  }
}

const metric = (family: MetricFamily, interval: Interval) => ({
  ...(metricNames.get(family.name) ?? { name: family.name, unit: "1" }),
  description: family.help,
  ...data(family, interval)
})

/** Body of `POST /v1/metrics`: totals since `startMs`, as they are at `nowMs` (epoch milliseconds). */
export const encodeMetrics = (resource: Resource, snapshot: MetricsSnapshot, startMs: number, nowMs: number) => {
  const interval = { startTimeUnixNano: nanos(startMs), timeUnixNano: nanos(nowMs) }
  return {
    resourceMetrics: [
      {
        resource: resourceOf(resource),
        scopeMetrics: [
          {
            scope: { name: "gateway", version: resource.version },
            metrics: snapshot.filter(({ samples }) => samples.length > 0).map((family) => metric(family, interval))
          }
        ]
      }
    ]
  }
}
