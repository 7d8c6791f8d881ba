/** Reads which gateways share the database (`docs/cluster.md`). */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { lostAfterMs, ThisNode } from "../../plane/workers/NodeWatch.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as NodeRows from "../../store/nodes/NodeRows.ts"

export interface ClusterNode extends Omit<NodeRows.NodeRow, "background"> {
  readonly background: boolean
  readonly self: boolean
  readonly state: "up" | "lost"
}

export interface ClusterState {
  readonly engine: "sqlite" | "postgres"
  readonly database: string | null
  readonly nodes: ReadonlyArray<ClusterNode>
}

export class Cluster extends Context.Tag("gateway/subjects/cluster/Cluster")<
  Cluster,
  { readonly state: Effect.Effect<ClusterState, StoreError> }
>() {}

const addressOf = (url: Redacted.Redacted): string => {
  const { host, pathname } = new URL(Redacted.value(url))
  return `${host}${pathname}`
}

export const make = Effect.gen(function* () {
  const { databaseUrl } = yield* AppConfig
  const rows = yield* NodeRows.make
  const self = yield* ThisNode
  const alone: ClusterState = { engine: "sqlite", database: null, nodes: [] }
  return Cluster.of({
    state:
      databaseUrl === null
        ? Effect.succeed(alone)
        : Effect.map(rows.list, (all) => ({
            engine: "postgres" as const,
            database: addressOf(databaseUrl),
            nodes: all.map((node) => ({
              ...node,
              background: node.background > 0,
              self: node.id === self?.id,
              state: node.silentMs < lostAfterMs ? ("up" as const) : ("lost" as const)
            }))
          }))
  })
})

export const layer: Layer.Layer<Cluster, never, AppConfig | SqlClient.SqlClient> = Layer.effect(Cluster, make)
