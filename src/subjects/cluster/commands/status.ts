/** `gateway cluster status`: the gateways that share the database. */
import * as Column from "../../../cli/output/Column.ts"
import * as Output from "../../../cli/output/Output.ts"
import { asking } from "../../../cli/verbs/asking.ts"
import { ClusterView, type NodeView } from "../routes.ts"

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

export const clusterStatus = asking("status", "cluster", {}, function* (client) {
  const state = yield* client.get()
  yield* Output.list({
    schema: ClusterView,
    value: state,
    rows: state.nodes,
    columns,
    empty: "This gateway has its database for itself: a file of its data folder."
  })
})
