/** Reads which gateways share the database (`docs/cluster.md`). */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { ownOfEach } from "../../plane/state/OwnOfEach.ts"
import { SharedValkey, type ValkeyReach } from "../../plane/state/SharedValkey.ts"
import { NodeReplica } from "../../plane/workers/NodeReplica.ts"
import { lostAfterMs, ThisNode } from "../../plane/workers/NodeWatch.ts"
import { AppConfig } from "../../platform/AppConfig.ts"
import * as Table from "../../store/engine/Table.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as NodeRows from "../../store/nodes/NodeRows.ts"
import { conflict, EntityNotFound, type StateConflict } from "../Errors.ts"

export interface ClusterNode extends Omit<NodeRows.NodeRow, "background"> {
  readonly background: boolean
  readonly self: boolean
  readonly state: "up" | "lost"
}

export interface ClusterValkey extends Readonly<ValkeyReach> {
  readonly dropped: number
}

export interface ClusterState {
  readonly engine: "sqlite" | "postgres"
  readonly database: string | null
  readonly valkey: ClusterValkey | null
  readonly nodes: ReadonlyArray<ClusterNode>
  readonly ownOfEach: ReadonlyArray<string>
}

export interface Forgotten {
  readonly id: string
  readonly name: string
  readonly leases: number
  readonly work: number
}

export class Cluster extends Context.Tag("gateway/subjects/cluster/Cluster")<
  Cluster,
  {
    readonly state: Effect.Effect<ClusterState, StoreError>
    /** Gives up a gateway that is lost, by its id or name. */
    readonly forget: (name: string) => Effect.Effect<Forgotten, EntityNotFound | StateConflict | StoreError>
  }
>() {}

const addressOf = (url: Redacted.Redacted): string => {
  const { host, pathname } = new URL(Redacted.value(url))
  return `${host}${pathname}`
}

const seconds = (ms: number): string => `${Math.round(ms / 1_000)} s`

/** Finds the one that is meant: an id, or a name that no running gateway has. */
const lostOne = (nodes: ReadonlyArray<ClusterNode>, name: string) => {
  const meant = nodes.filter((node) => node.id === name || node.name === name)
  const running = meant.find(({ state }) => state === "up")
  if (running !== undefined) {
    return conflict(
      `The gateway ${running.name} runs: it was seen ${seconds(running.silentMs)} ago. Only one that is lost can be forgotten.`
    )
  }
  const [lost] = meant
  return lost === undefined ? new EntityNotFound({ entity: "gateway", id: name }) : Effect.succeed(lost)
}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const { databaseUrl } = yield* AppConfig
  const rows = yield* NodeRows.make
  const self = yield* ThisNode
  const valkey = yield* SharedValkey
  const replica = yield* NodeReplica
  const alone: ClusterState = { engine: "sqlite", database: null, valkey: null, nodes: [], ownOfEach: [] }
  const nodes = Effect.map(rows.list, (all) =>
    all.map((node): ClusterNode => ({
      ...node,
      background: node.background > 0,
      self: node.id === self?.id,
      state: node.silentMs < lostAfterMs ? "up" : "lost"
    }))
  )
  /** Gives up all that a data folder holds which no running gateway has. */
  const givenUp = (folder: string, name: string) =>
    Effect.gen(function* () {
      const { giveUpFolder } = yield* Effect.promise(() => import("../../plane/ledger/rows/PostgresRows.ts"))
      const limits = yield* Effect.mapError(giveUpFolder(sql, folder), Table.named("Cluster.forget"))
      if (limits === null) {
        return yield* conflict(
          `The gateway ${name} was heard of in the last 35 s. Wait until it was silent for longer.`
        )
      }
      return { leases: limits.leases, work: yield* rows.giveUpWork(folder) }
    })
  return Cluster.of({
    state:
      databaseUrl === null
        ? Effect.succeed(alone)
        : Effect.map(nodes, (all) => ({
            engine: "postgres" as const,
            database: addressOf(databaseUrl),
            valkey: valkey === null ? null : { ...valkey, dropped: replica?.dropped() ?? 0 },
            nodes: all,
            ownOfEach
          })),
    forget: Effect.fn("Cluster.forget")(function* (name: string) {
      const all = databaseUrl === null ? [] : yield* nodes
      const { folder, id, name: shown } = yield* lostOne(all, name)
      // It was started again with its data folder: that one has taken over what this one left.
      const isTakenOver = folder === "" || all.some((node) => node.folder === folder && node.state === "up")
      const held = isTakenOver ? { leases: 0, work: 0 } : yield* givenUp(folder, shown)
      yield* rows.gone(id)
      return { id, name: shown, ...held }
    })
  })
})

export const layer: Layer.Layer<Cluster, never, AppConfig | SqlClient.SqlClient> = Layer.effect(Cluster, make)
