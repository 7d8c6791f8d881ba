/**
 * Keeps everything telemetry lets out, so that one test can look for a planted key in all of it: log lines of both
 * kinds, spans and metrics as they would be exported, and the Prometheus page.
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { renderPrometheus } from "../../src/entry/metrics/Metrics.ts"
import type { MetricsSnapshot } from "../../src/observe/usage/telemetry/Families.ts"
import { LogSink } from "../../src/observe/usage/telemetry/LogSink.ts"
import { Otlp } from "../../src/observe/usage/telemetry/Otlp.ts"
import { encodeMetrics, encodeTraces } from "../../src/observe/usage/telemetry/OtlpEncode.ts"
import { jsonStyle } from "../../src/observe/usage/telemetry/LogStyle.ts"
import { makeTextLine } from "../../src/observe/usage/telemetry/RequestText.ts"
import type { RequestSummary } from "../../src/observe/usage/telemetry/Summary.ts"

const resource = { attributes: [["service.name", "gateway"]], version: "1" } as const

export interface SecretSink {
  /** Replaces `LogSink.layer` and `Otlp.layer`. */
  readonly layer: Layer.Layer<LogSink | Otlp>
  /** Everything that was let out, by sink. */
  readonly contents: () => Readonly<Record<"log" | "terminal" | "traces" | "metrics" | "prometheus", string>>
  /** Names of the sinks that hold `secret`; empty is good. */
  readonly leaking: (secret: string) => ReadonlyArray<string>
}

export const make = (): SecretSink => {
  const lines: Array<string> = []
  const summaries: Array<RequestSummary> = []
  let read: () => MetricsSnapshot = () => []

  const contents = () => ({
    log: lines.join("\n"),
    terminal: summaries.map(makeTextLine({ format: "text", colours: false })).join("\n"),
    traces: JSON.stringify(encodeTraces(resource, summaries)),
    metrics: JSON.stringify(encodeMetrics(resource, read(), 0, 1)),
    prometheus: renderPrometheus(read())
  })
  return {
    layer: Layer.merge(
      Layer.succeed(LogSink, { style: jsonStyle, takes: () => true, write: (line) => lines.push(line) }),
      Layer.succeed(Otlp, {
        offer: (summary) => summaries.push(summary),
        publish: (source) =>
          Effect.sync(() => {
            read = source
          })
      })
    ),
    contents,
    leaking: (secret) =>
      Object.entries(contents())
        .filter(([, text]) => text.includes(secret))
        .map(([sink]) => sink)
  }
}
