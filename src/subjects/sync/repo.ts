/** Target of the synchronised configuration, and its state: one row. The shared key is encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { Flag, MaybeText, MaybeWhole, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { sealedColumn, SecretText } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"

export interface CloudSyncState {
  readonly cloudUrl: string | null
  readonly sharedKey: Redacted.Redacted | null
  readonly enabled: boolean
  /** Version of the configuration: rises with each change that was sent or taken. */
  readonly version: number
  /** Hash of the configuration that this version is. */
  readonly sentHash: string | null
  /** True when the latest try succeeded; null before the first. */
  readonly connected: boolean | null
  readonly lastSyncAtMs: number | null
  readonly lastError: string | null
}

export class CloudSyncRepo extends Context.Tag("gateway/subjects/sync/CloudSyncRepo")<
  CloudSyncRepo,
  {
    readonly get: Effect.Effect<CloudSyncState, StoreError>
    readonly set: (state: CloudSyncState) => Effect.Effect<void, StoreError>
  }
>() {}

const rowId = "cloud"

const Row = Schema.Struct({
  id: Text,
  cloudUrl: MaybeText,
  sharedKey: MaybeText,
  enabled: Flag,
  version: Whole,
  sentHash: MaybeText,
  connected: Schema.NullOr(Flag),
  lastSyncAtMs: MaybeWhole,
  lastError: MaybeText
})

const initial: CloudSyncState = {
  cloudUrl: null,
  sharedKey: null,
  enabled: false,
  version: 0,
  sentHash: null,
  connected: null,
  lastSyncAtMs: null,
  lastError: null
}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "cloud_sync", Row)
  const sharedKey = sealedColumn(yield* Secrets, "cloud_sync", "shared_key", SecretText)
  const stored = table.first("CloudSyncRepo.get", sql`WHERE id = ${rowId}`)

  return CloudSyncRepo.of({
    get: Effect.map(stored, (row) => {
      if (row === null) return initial
      const { id: _, ...state } = row
      return { ...state, sharedKey: sharedKey.open(rowId, row.sharedKey).value }
    }),
    set: Effect.fn("CloudSyncRepo.set")(function* (state: CloudSyncState) {
      const before = yield* stored
      const row = {
        ...state,
        id: rowId,
        sharedKey: sharedKey.reseal(rowId, state.sharedKey, before?.sharedKey ?? null)
      }
      if (before === null) yield* Effect.orDie(table.insert("CloudSyncRepo.set", row))
      else yield* Effect.orDie(table.update("CloudSyncRepo.set", sql`id = ${rowId}`, row))
    })
  })
})

export const layer: Layer.Layer<CloudSyncRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(CloudSyncRepo, make)
