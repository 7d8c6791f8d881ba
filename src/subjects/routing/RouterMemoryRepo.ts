/** The memory of strategies, by combo name, `auto` id or requested id. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { makeStateRows, type StateRows } from "../../store/engine/StateRows.ts"

export class RouterMemoryRepo extends Context.Tag("gateway/subjects/routing/RouterMemoryRepo")<
  RouterMemoryRepo,
  StateRows
>() {}

export const make = makeStateRows("RouterMemoryRepo", "router_memory")

export const layer: Layer.Layer<RouterMemoryRepo, never, SqlClient.SqlClient> = Layer.effect(RouterMemoryRepo, make)
