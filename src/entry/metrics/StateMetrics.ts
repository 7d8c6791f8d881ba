/** The state metrics: breakers, connections, capacity. Pure. */
import type { DecisionCount } from "../../plane/features/guardrails/Decisions.ts"
import type { StandingCounts } from "../../subjects/connections/Standings.ts"
import type { BreakerView } from "../../plane/resilience/breaker/Breakers.ts"
import type { GaugeFamily, MetricsSnapshot } from "../../observe/usage/telemetry/Families.ts"

export interface HouseState {
  readonly breakers: ReadonlyArray<BreakerView>
  readonly connections: StandingCounts
  readonly inFlight: number
  /** Number since the start. */
  readonly shed: number
  /** Bytes of bodies of requests in progress. */
  readonly bodyBytes: number
  /** Number since the start. */
  readonly bodiesRefused: number
  /** Number since the start. */
  readonly decisionsNotStored: number
  /** Numbers since the start. */
  readonly webhooks: { readonly delivered: number; readonly failed: number; readonly dropped: number }
  /** Numbers since the start. */
  readonly guardrails: ReadonlyArray<DecisionCount>
  readonly usageLog: {
    readonly isTroubled: boolean
    readonly waitingRows: number
    /** Number since the start. */
    readonly rowsNotOnFile: number
    readonly rowsDropped: number
  }
}

const phases: ReadonlyArray<BreakerView["state"]> = ["CLOSED", "DEGRADED", "OPEN", "HALF_OPEN"]
const standings = ["available", "cooling", "terminal", "inactive"] as const

/** Every state of every provider, 1 for the one it is in: an alert needs no knowledge of numbers. */
const breakerStates = (breakers: ReadonlyArray<BreakerView>): GaugeFamily => ({
  type: "gauge",
  name: "gateway_provider_breaker_state",
  help: "1 for the state the provider's circuit breaker is in, 0 for the others.",
  samples: breakers.flatMap(({ provider, state }) =>
    phases.map((phase) => ({ labels: { provider, state: phase }, value: phase === state ? 1 : 0 }))
  )
})

export const stateFamilies = ({
  bodiesRefused,
  bodyBytes,
  breakers,
  connections,
  decisionsNotStored,
  guardrails,
  inFlight,
  shed,
  usageLog,
  webhooks
}: HouseState): MetricsSnapshot => [
  breakerStates(breakers),
  {
    type: "gauge",
    name: "gateway_connections",
    help: "Connections by what can be done with them now.",
    samples: standings.map((state) => ({ labels: { state }, value: connections[state] }))
  },
  {
    type: "gauge",
    name: "gateway_requests_in_flight",
    help: "Inference requests that have been let in and are not over.",
    samples: [{ labels: {}, value: inFlight }]
  },
  {
    type: "counter",
    name: "gateway_requests_shed_total",
    help: "Inference requests refused because too many were in flight.",
    samples: [{ labels: {}, value: shed }]
  },
  {
    type: "counter",
    name: "gateway_decisions_not_stored_total",
    help: "Routing decisions given up because too many were waiting for the database, or because it refused them.",
    samples: [{ labels: {}, value: decisionsNotStored }]
  },
  {
    type: "counter",
    name: "gateway_webhook_deliveries_total",
    help: "Events that were delivered to webhooks, and those whose delivery failed after all retries.",
    samples: [
      { labels: { result: "delivered" }, value: webhooks.delivered },
      { labels: { result: "failed" }, value: webhooks.failed }
    ]
  },
  {
    type: "counter",
    name: "gateway_webhook_events_dropped_total",
    help: "Events for webhooks that were dropped because too many waited.",
    samples: [{ labels: {}, value: webhooks.dropped }]
  },
  {
    type: "counter",
    name: "gateway_guardrail_decisions_total",
    help: "What guardrails have done, by what they found.",
    samples: guardrails.map(({ action, count, detector }) => ({ labels: { detector, action }, value: count }))
  },
  {
    type: "gauge",
    name: "gateway_request_body_bytes",
    help: "Memory that the bodies of requests under way take (limit: GATEWAY_MAX_BUFFERED_MB).",
    samples: [{ labels: {}, value: bodyBytes }]
  },
  {
    type: "counter",
    name: "gateway_request_bodies_refused_total",
    help: "Requests refused because the bodies under way took as much memory as they may.",
    samples: [{ labels: {}, value: bodiesRefused }]
  },
  {
    type: "gauge",
    name: "gateway_usage_log_failing",
    help: "1 while usage rows cannot be put on file or brought into the database (a full disk), else 0.",
    samples: [{ labels: {}, value: usageLog.isTroubled ? 1 : 0 }]
  },
  {
    type: "gauge",
    name: "gateway_usage_log_waiting_rows",
    help: "Usage rows that are not in the database yet.",
    samples: [{ labels: {}, value: usageLog.waitingRows }]
  },
  {
    type: "counter",
    name: "gateway_usage_log_rows_not_on_file_total",
    help: "Usage rows that were in memory only until they were in the database.",
    samples: [{ labels: {}, value: usageLog.rowsNotOnFile }]
  },
  {
    type: "counter",
    name: "gateway_usage_log_rows_dropped_total",
    help: "Usage rows given up because too many were waiting.",
    samples: [{ labels: {}, value: usageLog.rowsDropped }]
  }
]
