/** Use of the quotas of a group by API keys, by group, connection and key. */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import { makeStateRows, type StateRows } from "../../store/engine/StateRows.ts"

export class QuotaUseRepo extends Context.Tag("gateway/subjects/quotaGroups/QuotaUseRepo")<QuotaUseRepo, StateRows>() {}

export const make = makeStateRows("QuotaUseRepo", "quota_use")

export const layer: Layer.Layer<QuotaUseRepo, never, SqlClient.SqlClient> = Layer.effect(QuotaUseRepo, make)
