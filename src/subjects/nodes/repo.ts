/** Provider nodes: endpoints the operator added. Extra headers are encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { MediaPaths } from "../../contract/domain/MediaKind.ts"
import { type ProviderNode, ProviderNodeType } from "./entity.ts"
import { WireName } from "../../contract/domain/Wire.ts"
import { Json, MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import { SecretHeaders, sealedColumn, type Stored } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Records from "../../store/engine/Records.ts"

export type StoredNode = Stored<ProviderNode>

export class NodeRepo extends Context.Tag("gateway/subjects/nodes/NodeRepo")<
  NodeRepo,
  Records.Records<StoredNode, ProviderNode>
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

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const headers = sealedColumn(yield* Secrets, "provider_nodes", "headers", SecretHeaders)
  const options = {
    name: "NodeRepo",
    table: "provider_nodes",
    row: Row,
    remembered: (a: StoredNode, b: StoredNode) => a.createdAtMs - b.createdAtMs || (a.id < b.id ? -1 : 1)
  }
  return NodeRepo.of(Records.mapped(sql, options, Records.sealed(Row, { headers })))
})

export const layer: Layer.Layer<NodeRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(NodeRepo, make)
