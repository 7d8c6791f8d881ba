/** Quota groups (`/api/quota/groups`). */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { QuotaAllocation, type QuotaGroup, QuotaMember } from "./entity.ts"
import { Flag, Json, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"
import * as Records from "../../store/engine/Records.ts"
import { byEngine } from "../../store/engine/Engine.ts"

export class QuotaGroupRepo extends Context.Tag("gateway/subjects/quotaGroups/QuotaGroupRepo")<
  QuotaGroupRepo,
  Records.Records<QuotaGroup, QuotaGroup> & {
    /** Removes a connection from every group. */
    readonly dropConnection: (connectionId: string) => Effect.Effect<void, StoreError>
    /** Removes an API key from the allocations of every group. */
    readonly dropApiKey: (apiKeyId: string) => Effect.Effect<void, StoreError>
  }
>() {}

const Row = Schema.Struct({
  id: Text,
  name: Text,
  members: Json(Schema.Array(QuotaMember)),
  allocations: Json(Schema.Array(QuotaAllocation)),
  restricted: Flag,
  createdAtMs: Whole,
  updatedAtMs: Whole
})

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const records = Records.make(sql, {
    name: "QuotaGroupRepo",
    table: "quota_groups",
    row: Row,
    order: sql`ORDER BY name`
  })

  /** Removes the entries that name `id` from one list of every group. */
  const dropFrom = (
    operation: string,
    list: "members" | "allocations",
    key: "connectionId" | "apiKeyId",
    id: string
  ) => {
    const column = sql(list)
    return byEngine(sql, {
      sqlite: sql`
        UPDATE quota_groups SET ${column} = (
          SELECT json_group_array(json(entry.value)) FROM json_each(quota_groups.${column}) AS entry WHERE entry.value ->> ${key} <> ${id})
        WHERE EXISTS (SELECT 1 FROM json_each(quota_groups.${column}) AS entry WHERE entry.value ->> ${key} = ${id})`,
      postgres: sql`
        UPDATE quota_groups SET ${column} = (
          SELECT COALESCE(json_agg(entry.value::json ORDER BY entry.id), '[]')::text
          FROM json_each(quota_groups.${column}) AS entry WHERE entry.value ->> ${key} <> ${id})
        WHERE EXISTS (SELECT 1 FROM json_each(quota_groups.${column}) AS entry WHERE entry.value ->> ${key} = ${id})`
    }).pipe(Effect.asVoid, Effect.mapError(Table.named(operation)))
  }

  const dropConnection = Effect.fn("QuotaGroupRepo.dropConnection")((connectionId: string) =>
    dropFrom("QuotaGroupRepo.dropConnection", "members", "connectionId", connectionId)
  )
  const dropApiKey = Effect.fn("QuotaGroupRepo.dropApiKey")((apiKeyId: string) =>
    dropFrom("QuotaGroupRepo.dropApiKey", "allocations", "apiKeyId", apiKeyId)
  )
  return QuotaGroupRepo.of({ ...records, dropConnection, dropApiKey })
})

export const layer: Layer.Layer<QuotaGroupRepo, never, SqlClient.SqlClient> = Layer.effect(QuotaGroupRepo, make)
