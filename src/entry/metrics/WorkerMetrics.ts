/** The metrics of the workers of a gateway that is several processes (docs/workers.md). Pure. */
import type { GaugeFamily, MetricsSnapshot } from "../../observe/usage/telemetry/Families.ts"
import type { Figures, WorkersFigures } from "../relay/WorkerFigures.ts"

export const workerFamilies = ({ byPlace, running, wanted }: WorkersFigures): MetricsSnapshot => {
  const gauge = (name: string, help: string, of: (figures: Figures) => number | null): GaugeFamily => ({
    type: "gauge",
    name,
    help,
    samples: byPlace.flatMap(([place, figures]) => {
      const value = of(figures)
      return value === null ? [] : [{ labels: { worker: String(place) }, value }]
    })
  })
  return [
    {
      type: "gauge",
      name: "gateway_workers",
      help: "Workers that are wanted, and those that have a process.",
      samples: [
        { labels: { state: "wanted" }, value: wanted },
        { labels: { state: "running" }, value: running }
      ]
    },
    gauge("gateway_worker_resident_memory_bytes", "Resident memory of a worker.", ({ rssBytes }) => rssBytes),
    gauge(
      "gateway_worker_event_loop_delay_seconds",
      "How late the event loop of a worker was, 99th percentile of two seconds.",
      ({ eventLoopDelayMs }) => (eventLoopDelayMs === null ? null : eventLoopDelayMs / 1000)
    ),
    gauge("gateway_worker_requests_in_flight", "Inference requests in a worker.", ({ inFlight }) => inFlight),
    gauge("gateway_worker_open_streams", "Streamed answers in flight in a worker.", ({ openStreams }) => openStreams)
  ]
}
