/** `gateway cluster status`: the gateways that share the database. */
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"
import { ClusterView, type NodeView, type ValkeyView } from "../routes.ts"

const columns: ReadonlyArray<Column.Column<NodeView>> = [
  Column.name("NAME", ({ name }) => name),
  Column.id("ID", ({ id }) => id),
  Column.text("STATE", ({ self, state }) => (self ? `${state}, answers` : state)),
  Column.text("VERSION", ({ version }) => version),
  Column.number("SCHEMA", ({ schemaVersion }) => schemaVersion),
  Column.time("STARTED", ({ startedAt }) => startedAt),
  Column.number("SEEN S AGO", ({ silentMs }) => Math.round(silentMs / 1_000)),
  Column.number("CHANGES BEHIND", ({ changesBehind }) => changesBehind),
  Column.number("HEALTH BEHIND", ({ toldBehind }) => toldBehind),
  Column.number("LEASES", ({ leases }) => leases),
  Column.number("WORK", ({ work }) => work),
  Column.yesNo("BACKGROUND", ({ background }) => background)
]

/** Describes the way over Valkey: whether it is there, how late it is, and what it did not take. */
const valkeyWords = ({
  address,
  dropped,
  heard,
  lagMs,
  overDatabase,
  problem,
  told
}: typeof ValkeyView.Type): string => {
  const state =
    problem === null ? `Valkey at ${address} is reached` : `Valkey at ${address} cannot be used (${problem})`
  const late = lagMs === null ? "" : `, ${lagMs} ms late at the last one`
  const lost = dropped === 0 ? "" : `; ${dropped} things were told to nobody`
  return `${state}: ${told} messages told, ${heard} heard${late}, ${overDatabase} over the database instead${lost}.`
}

export const clusterStatus = asking("status", "cluster", {}, function* (client) {
  const state = yield* client.get()
  yield* Output.list({
    schema: ClusterView,
    value: state,
    rows: state.nodes,
    columns,
    empty: "This gateway has its database for itself: a file of its data folder."
  })
  if (state.valkey !== null) yield* Output.remark(valkeyWords(state.valkey))
  if (state.nodes.length > 1) yield* Output.remark(`Each gateway has its own: ${state.ownOfEach.join(", ")}.`)
})
