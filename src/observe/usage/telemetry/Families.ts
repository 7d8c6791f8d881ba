/** Metrics as plain data: produced by the recorders, rendered by the Prometheus page and the OTLP export. */

/** Label name → value. Names are valid in both formats: lower-case letters, digits and underscores. */
export type Labels = Readonly<Record<string, string>>

export interface NumberSample {
  readonly labels: Labels
  readonly value: number
}

export interface HistogramSample {
  readonly labels: Labels
  /** Observations per bucket, not cumulative; one more than there are bounds, the last is the overflow. */
  readonly counts: ArrayLike<number>
  readonly sum: number
}

interface Described {
  /** Prometheus name with its unit: `gateway_request_duration_seconds`. */
  readonly name: string
  readonly help: string
}

export interface CounterFamily extends Described {
  readonly type: "counter"
  readonly samples: ReadonlyArray<NumberSample>
}

export interface GaugeFamily extends Described {
  readonly type: "gauge"
  readonly samples: ReadonlyArray<NumberSample>
}

export interface HistogramFamily extends Described {
  readonly type: "histogram"
  /** Upper bounds of the buckets, inclusive and rising, without infinity. */
  readonly bounds: ReadonlyArray<number>
  readonly samples: ReadonlyArray<HistogramSample>
}

export type MetricFamily = CounterFamily | GaugeFamily | HistogramFamily
export type MetricsSnapshot = ReadonlyArray<MetricFamily>
