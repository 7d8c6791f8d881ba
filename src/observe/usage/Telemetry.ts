/**
 * Telemetry of a finished request: one log line, the metrics, and spans when OTLP is configured. Everything is made from the usage
 * row, so prompt text and keys cannot get here.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AttemptMetrics from "./telemetry/AttemptMetrics.ts"
import { makeSignal } from "../../kernel/collections/Signal.ts"
import { claimed } from "../../plane/state/Claims.ts"
import { SharedDatabase } from "../../plane/state/SharedDatabase.ts"
import type { MetricsSnapshot } from "./telemetry/Families.ts"
import type { KeyCounts } from "./telemetry/KeyMetrics.ts"
import { type LatencySummary, LatencyWindow } from "./telemetry/LatencyWindow.ts"
import { LogSink } from "./telemetry/LogSink.ts"
import { Otlp } from "./telemetry/Otlp.ts"
import { levelOf, makeJsonLine } from "./telemetry/RequestLog.ts"
import * as RequestMetrics from "./telemetry/RequestMetrics.ts"
import { makeTextLine } from "./telemetry/RequestText.ts"
import { SessionBook, type SessionView } from "./telemetry/SessionBook.ts"
import type { RequestSummary } from "./telemetry/Summary.ts"

export type { RequestSummary } from "./telemetry/Summary.ts"

export class Telemetry extends Context.Tag("gateway/observe/usage/Telemetry")<
  Telemetry,
  {
    /** Hot: call once per request when it is settled. Never waits. */
    readonly observe: (summary: RequestSummary) => void
    /** Counts a request that another process has served and logged. */
    readonly adopt: (summary: RequestSummary) => void
    /** Calls `listener` with each request that is settled here, until the returned function is called. */
    readonly listen: (listener: (summary: RequestSummary) => void) => () => void
    /** The request metrics so far, for the Prometheus page. */
    readonly metrics: () => MetricsSnapshot
    /** Lists the use of API keys since the start, by their ids; bounded. */
    readonly keys: () => ReadonlyArray<Readonly<KeyCounts>>
    /** Latencies of the requests that ended within the last `windowMs`. */
    readonly latencies: (windowMs: number, nowMs: number) => LatencySummary
    /** Sessions of the last quarter of an hour, the one used last first. */
    readonly sessions: (nowMs: number) => ReadonlyArray<SessionView>
  }
>() {}

export const make = Effect.gen(function* () {
  const log = yield* LogSink
  const otlp = yield* Otlp
  const reach = yield* SharedDatabase
  const line = log.style.format === "text" ? makeTextLine(log.style) : makeJsonLine(reach?.node)
  const requests = RequestMetrics.make()
  const attempts = AttemptMetrics.make()
  const latencies = new LatencyWindow()
  const sessions = new SessionBook()
  const metrics = (): MetricsSnapshot => [...requests.snapshot(), ...attempts.snapshot()]
  // Of several processes one has the figures of all.
  yield* claimed("metrics", otlp.publish(metrics))
  const settled = makeSignal<RequestSummary>()

  const count = (summary: RequestSummary): void => {
    requests.observe(summary.row, summary.isListed)
    if (summary.attempts !== undefined) attempts.observe(summary.attempts)
    latencies.add(summary)
    sessions.seen(summary)
  }

  return Telemetry.of({
    observe: (summary) => {
      if (log.takes(levelOf(summary.row))) log.write(line(summary))
      count(summary)
      otlp.offer(summary)
      settled.tell(summary)
    },
    adopt: count,
    listen: settled.listen,
    metrics,
    keys: requests.keys,
    latencies: (windowMs, nowMs) => latencies.read(windowMs, nowMs),
    sessions: (nowMs) => sessions.list(nowMs)
  })
})

export const layer: Layer.Layer<Telemetry, never, LogSink | Otlp> = Layer.scoped(Telemetry, make)
