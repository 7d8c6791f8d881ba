/**
 * Settings: JSON values by namespace and key. Each namespace (`feature_flags`, `gateway`, `resilience`, `routing`, `pricing`, …) has
 * one owner, which checks the shape of what it reads.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { Json, Text } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"

export class SettingsRepo extends Context.Tag("gateway/subjects/settings/SettingsRepo")<
  SettingsRepo,
  {
    /** Null when nothing is stored. */
    readonly get: (namespace: string, key: string) => Effect.Effect<unknown, StoreError>
    readonly list: (namespace: string) => Effect.Effect<ReadonlyMap<string, unknown>, StoreError>
    readonly set: (namespace: string, key: string, value: unknown) => Effect.Effect<void, StoreError>
    /** Sets all of them or none. */
    readonly setAll: (namespace: string, values: ReadonlyMap<string, unknown>) => Effect.Effect<void, StoreError>
    /** False when nothing was stored. */
    readonly remove: (namespace: string, key: string) => Effect.Effect<boolean, StoreError>
    /** Removes a whole namespace; returns how many keys it held. */
    readonly clear: (namespace: string) => Effect.Effect<number, StoreError>
  }
>() {}

const Row = Schema.Struct({ namespace: Text, key: Text, value: Json(Schema.Unknown) })

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "settings", Row)

  const get = Effect.fn("SettingsRepo.get")(function* (namespace: string, key: string) {
    const row = yield* table.first("SettingsRepo.get", sql`WHERE namespace = ${namespace} AND key = ${key}`)
    return row === null ? null : row.value
  })

  const list = Effect.fn("SettingsRepo.list")(function* (namespace: string) {
    const rows = yield* table.select("SettingsRepo.list", sql`WHERE namespace = ${namespace} ORDER BY key`)
    return new Map(rows.map((row) => [row.key, row.value]))
  })

  const setAll = Effect.fn("SettingsRepo.setAll")((namespace: string, values: ReadonlyMap<string, unknown>) => {
    // Pairs, not an object, because of keys such as "__proto__".
    const pairs = JSON.stringify(Array.from(values, ([key, value]) => [key, JSON.stringify(value ?? null)]))
    // Without "WHERE TRUE" SQLite's parser takes ON CONFLICT for a join condition.
    return sql`
      INSERT INTO settings (namespace, key, value)
      SELECT ${namespace}, pair.value ->> 0, pair.value ->> 1 FROM json_each(${pairs}) AS pair WHERE TRUE
      ON CONFLICT (namespace, key) DO UPDATE SET value = excluded.value`.pipe(
      Effect.asVoid,
      Effect.mapError(Table.named("SettingsRepo.setAll"))
    )
  })

  const set = (namespace: string, key: string, value: unknown) => setAll(namespace, new Map([[key, value]]))

  const remove = Effect.fn("SettingsRepo.remove")((namespace: string, key: string) =>
    table.remove("SettingsRepo.remove", sql`namespace = ${namespace} AND key = ${key}`)
  )

  const clear = Effect.fn("SettingsRepo.clear")((namespace: string) =>
    Effect.mapBoth(sql`DELETE FROM settings WHERE namespace = ${namespace} RETURNING 1`, {
      onFailure: Table.named("SettingsRepo.clear"),
      onSuccess: (hits) => hits.length
    })
  )
  return SettingsRepo.of({ get, list, set, setAll, remove, clear })
})

export const layer: Layer.Layer<SettingsRepo, never, SqlClient.SqlClient> = Layer.effect(SettingsRepo, make)
