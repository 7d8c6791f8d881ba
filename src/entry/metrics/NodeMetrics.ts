/** Metrics of a gateway among several on one database: its name, and how it reaches the database. Pure. */
import type { CounterFamily, GaugeFamily, MetricsSnapshot } from "../../observe/usage/telemetry/Families.ts"
import type { ValkeyReach } from "../../plane/state/SharedValkey.ts"

export interface NodeState {
  readonly node: string
  readonly isDatabaseReached: boolean
  /** Things of accounts and providers that the others were not told yet. */
  readonly untold: number
  /** Such things that are told no more, as too many waited. */
  readonly dropped: number
  /** Null: there is no Valkey. */
  readonly valkey: Readonly<ValkeyReach> | null
}

const gauge = (name: string, help: string, value: number, labels: GaugeFamily["samples"][number]["labels"] = {}) =>
  ({ type: "gauge", name, help, samples: [{ labels, value }] }) satisfies GaugeFamily

const counter = (name: string, help: string, samples: CounterFamily["samples"]) =>
  ({ type: "counter", name, help, samples }) satisfies CounterFamily

const valkeyFamilies = ({ heard, lagMs, overDatabase, problem, told }: Readonly<ValkeyReach>): MetricsSnapshot => [
  gauge("gateway_valkey_reached", "Valkey can be used: 1, else 0.", problem === null ? 1 : 0),
  counter(
    "gateway_valkey_messages_total",
    "Messages between gateways: told to Valkey, heard over it, or sent over the database because it did not take them.",
    [
      { labels: { way: "told" }, value: told },
      { labels: { way: "heard" }, value: heard },
      { labels: { way: "over_database" }, value: overDatabase }
    ]
  ),
  ...(lagMs === null
    ? []
    : [
        gauge(
          "gateway_valkey_lag_seconds",
          "Time from the telling of the latest message of another gateway until it was heard here.",
          lagMs / 1_000
        )
      ])
]

export const nodeFamilies = ({ dropped, isDatabaseReached, node, untold, valkey }: NodeState): MetricsSnapshot => [
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
  ),
  counter(
    "gateway_untold_health_dropped_total",
    "What was learned of accounts and providers and is told to the others no more, as too much waited.",
    [{ labels: {}, value: dropped }]
  ),
  ...(valkey === null ? [] : valkeyFamilies(valkey))
]
