/** Quota windows that survive a restart, by connection id. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { makeStateRows, type StateRows } from "../../store/engine/StateRows.ts"

export class QuotaRepo extends Context.Tag("gateway/subjects/quotaGroups/QuotaRepo")<QuotaRepo, StateRows>() {}

export const make = makeStateRows("QuotaRepo", "quota_windows")

export const layer: Layer.Layer<QuotaRepo, never, SqlClient.SqlClient> = Layer.effect(QuotaRepo, make)
