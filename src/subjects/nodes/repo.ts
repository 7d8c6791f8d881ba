/** Provider nodes: endpoints the operator added. Extra headers are encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { MediaPaths } from "../../domain/MediaKind.ts"
import { type ProviderNode, ProviderNodeType } from "./entity.ts"
import { WireName } from "../../domain/Wire.ts"
import { Json, MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import * as RememberedRows from "../../store/engine/RememberedRows.ts"
import { SecretHeaders, sealedColumn, type Stored } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"

export type StoredNode = Stored<ProviderNode>

export class NodeRepo extends Context.Tag("gateway/subjects/nodes/NodeRepo")<
  NodeRepo,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<StoredNode>, StoreError>
    readonly get: (id: string) => Effect.Effect<StoredNode | null, StoreError>
    /** A prefix already in use is an `AlreadyStored`. */
    readonly insert: (node: ProviderNode) => Effect.Effect<void, StoreError | AlreadyStored>
    /** Replaces the record; locked headers stay as they are unless new ones are given. False when there is no such id. */
    readonly update: (node: ProviderNode) => Effect.Effect<boolean, StoreError | AlreadyStored>
    readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
  }
>() {}

const Row = Schema.Struct({
  id: Text,
  name: Text,
  prefix: Text,
  type: ProviderNodeType,
  baseUrl: Text,
  wires: Schema.NullOr(Json(Schema.Array(WireName))),
  headers: MaybeText,
  chatPath: MaybeText,
  modelsPath: MaybeText,
  mediaPaths: Schema.NullOr(Json(MediaPaths)),
  createdAtMs: Whole,
  updatedAtMs: Whole
})
type Row = typeof Row.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* Secrets
  const table = Table.make(sql, "provider_nodes", Row)
  const headers = sealedColumn(secrets, "provider_nodes", "headers", SecretHeaders)

  const toStored = (row: Row): StoredNode => {
    const opened = headers.open(row.id, row.headers)
    return { ...row, headers: opened.value, locked: opened.locked }
  }
  const toRow = (node: ProviderNode, before: Row | null): Row => ({
    ...node,
    headers: headers.reseal(node.id, node.headers, before?.headers ?? null)
  })
  const rowOf = (operation: string, id: string) => table.first(operation, sql`WHERE id = ${id}`)

  const get = Effect.fn("NodeRepo.get")(function* (id: string) {
    const row = yield* rowOf("NodeRepo.get", id)
    return row === null ? null : toStored(row)
  })

  const rows = RememberedRows.make({
    keyOf: (row: StoredNode) => row.id,
    all: Effect.map(table.select("NodeRepo.list", sql`ORDER BY created_at_ms, id`), (all) => all.map(toStored)),
    one: get,
    order: (a, b) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1)
  })
  const list = Effect.withSpan(rows.list, "NodeRepo.list")

  const insert = Effect.fn("NodeRepo.insert")((node: ProviderNode) =>
    rows.writing(node.id)(table.insert("NodeRepo.insert", toRow(node, null)))
  )

  const update = Effect.fn("NodeRepo.update")(
    function* (node: ProviderNode) {
      const before = yield* rowOf("NodeRepo.update", node.id)
      if (before === null) return false
      return yield* table.update("NodeRepo.update", sql`id = ${node.id}`, toRow(node, before))
    },
    (work, node) => rows.writing(node.id)(work)
  )

  const remove = Effect.fn("NodeRepo.remove")((id: string) =>
    rows.writing(id)(table.remove("NodeRepo.remove", sql`id = ${id}`))
  )
  return NodeRepo.of({ list, get, insert, update, remove })
})

export const layer: Layer.Layer<NodeRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(NodeRepo, make)
