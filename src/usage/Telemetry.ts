/**
 * What the outside may know of a finished request: one log line, the metrics, and a span when OTLP is configured.
 * Everything is made from the usage row, so prompt text and keys cannot get here.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { MetricsSnapshot } from "./telemetry/Families.ts"
import { LogSink } from "./telemetry/LogSink.ts"
import { Otlp } from "./telemetry/Otlp.ts"
import { jsonLine, textLine } from "./telemetry/RequestLog.ts"
import * as RequestMetrics from "./telemetry/RequestMetrics.ts"
import type { RequestSummary } from "./telemetry/Summary.ts"

export type { RequestSummary } from "./telemetry/Summary.ts"

export class Telemetry extends Context.Tag("gateway/usage/Telemetry")<
  Telemetry,
  {
    /** Hot: call once per request when it is settled. Never waits. */
    readonly observe: (summary: RequestSummary) => void
    /** The request metrics so far, for the Prometheus page. */
    readonly metrics: () => MetricsSnapshot
  }
>() {}

export const make = Effect.gen(function* () {
  const log = yield* LogSink
  const otlp = yield* Otlp
  const line = log.interactive ? textLine : jsonLine
  const metrics = RequestMetrics.make()
  yield* otlp.publish(metrics.snapshot)

  return Telemetry.of({
    observe: (summary) => {
      log.write(line(summary))
      metrics.observe(summary.row)
      otlp.offer(summary)
    },
    metrics: metrics.snapshot
  })
})

export const layer: Layer.Layer<Telemetry, never, LogSink | Otlp> = Layer.scoped(Telemetry, make)
