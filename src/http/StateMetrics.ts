/** What `/metrics` says of the state of the house: breakers, connections, room. Pure. */
import type { AccountCounts } from "../api/Groups/RateLimits.ts"
import type { BreakerView } from "../api/Groups/Resilience.ts"
import type { GaugeFamily, MetricsSnapshot } from "../usage/telemetry/Families.ts"

export interface HouseState {
  readonly breakers: ReadonlyArray<BreakerView>
  readonly connections: AccountCounts
  readonly inFlight: number
  /** Since the start. */
  readonly shed: number
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

export const stateFamilies = ({ breakers, connections, inFlight, shed }: HouseState): MetricsSnapshot => [
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
  }
]
