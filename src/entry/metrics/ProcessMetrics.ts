/** The process metrics: memory, event loop, and everything that must return to its initial value when the gateway is idle. Pure. */
import type { ProcessFactsShape } from "../../platform/ProcessFacts.ts"
import type { GaugeFamily, MetricsSnapshot } from "../../observe/usage/telemetry/Families.ts"

export interface ProcessState extends ProcessFactsShape {
  readonly openStreams: number
  /** Timers of the request path that will still run. */
  readonly liveTimers: number
}

const gauge = (name: string, help: string, value: number | null): GaugeFamily => ({
  type: "gauge",
  name,
  help,
  samples: value === null ? [] : [{ labels: {}, value }]
})

const seconds = (milliseconds: number | null): number | null => (milliseconds === null ? null : milliseconds / 1000)

export const processFamilies = (state: ProcessState): MetricsSnapshot => [
  gauge("gateway_uptime_seconds", "Time since the gateway started.", seconds(state.uptimeMs)),
  gauge("process_resident_memory_bytes", "Resident memory of the process.", state.rssBytes),
  gauge(
    "gateway_event_loop_delay_seconds",
    "How late the event loop was, 99th percentile since the page was last read.",
    seconds(state.eventLoopDelayMs)
  ),
  gauge("gateway_open_streams", "Streamed answers in flight.", state.openStreams),
  gauge("gateway_live_timers", "Timers of requests that will still run.", state.liveTimers),
  gauge("gateway_fibers", "Effect fibers that have begun and not ended.", state.fibers),
  {
    type: "gauge",
    name: "gateway_active_resources",
    help: "What keeps the event loop busy, by Node's own types.",
    samples: [...state.activeResources].map(([type, value]) => ({ labels: { type }, value }))
  }
]
