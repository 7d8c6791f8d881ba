/** Metrics of a gateway among several on one database: its name, and how it reaches the database. Pure. */
import type { GaugeFamily, MetricsSnapshot } from "../../observe/usage/telemetry/Families.ts"

export interface NodeState {
  readonly node: string
  readonly isDatabaseReached: boolean
  /** Things of accounts and providers that the others were not told yet. */
  readonly untold: number
}

const gauge = (name: string, help: string, value: number, labels: GaugeFamily["samples"][number]["labels"] = {}) =>
  ({ type: "gauge", name, help, samples: [{ labels, value }] }) satisfies GaugeFamily

export const nodeFamilies = ({ isDatabaseReached, node, untold }: NodeState): MetricsSnapshot => [
  gauge("gateway_node_info", "The gateway among those on one database: always 1, its name is a label.", 1, { node }),
  gauge(
    "gateway_database_reached",
    "The shared database was reached at the last look: 1, else 0.",
    isDatabaseReached ? 1 : 0
  ),
  gauge(
    "gateway_untold_health",
    "What was learned of accounts and providers and waits to be told to the others.",
    untold
  )
]
