/** `/api/cluster`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { answered } from "../../entry/handling/Answers.ts"
import { iso } from "../../entry/handling/Views.ts"
import { Cluster as ClusterGroup, type NodeView } from "./routes.ts"
import { Cluster, type ClusterNode } from "./service.ts"

const viewOf = ({ seenAtMs, startedAtMs, ...node }: ClusterNode): NodeView => ({
  ...node,
  startedAt: iso(startedAtMs),
  seenAt: iso(seenAtMs)
})

export const layer = HttpApiBuilder.group(contractOf(ClusterGroup), "cluster", (handlers) =>
  Effect.map(Cluster, (cluster) =>
    handlers
      .handle("get", () =>
        Effect.map(answered(cluster.state), (state) => ({ ...state, nodes: state.nodes.map(viewOf) }))
      )
      .handle("forget", ({ path }) => answered(cluster.forget(path.name)))
  )
)
