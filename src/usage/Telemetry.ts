/**
 * What the outside may know of a finished request: one log line, the metrics, and a span when OTLP is configured.
 * Everything is made from the usage row, so prompt text and keys cannot get here.
 */
import * as Context from "effect/Context"
import type { UsageRow } from "../domain/Usage.ts"
import type { MetricsSnapshot } from "./telemetry/Families.ts"

export interface RequestSummary {
  readonly row: UsageRow
  readonly method: string
  /** Path of the request; a query string is cut off before anything is written. */
  readonly path: string
}

export class Telemetry extends Context.Tag("gateway/usage/Telemetry")<
  Telemetry,
  {
    /** Hot: call once per request when it is settled. Never throws and never waits. */
    readonly observe: (summary: RequestSummary) => void
    /** The request metrics so far, for the Prometheus page. */
    readonly metrics: () => MetricsSnapshot
  }
>() {}
