/** Tunnels and whether they are to be open. Secrets are encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Redacted from "effect/Redacted"
import * as Schema from "effect/Schema"
import { TunnelBackend } from "./entity.ts"
import { Flag, Json, MaybeText, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { SecretText, sealedColumn } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"

export interface StoredTunnel {
  readonly backend: TunnelBackend
  readonly isEnabled: boolean
  readonly allowKeyless: boolean
  /** Options by name, without secrets. */
  readonly options: Readonly<Record<string, unknown>>
  /** Null: none, or it cannot be decrypted. */
  readonly secret: Redacted.Redacted | null
  readonly updatedAtMs: number
}

export class TunnelRepo extends Context.Tag("gateway/subjects/tunnels/TunnelRepo")<
  TunnelRepo,
  {
    readonly list: Effect.Effect<ReadonlyArray<StoredTunnel>, StoreError>
    readonly get: (backend: TunnelBackend) => Effect.Effect<StoredTunnel | null, StoreError>
    /** Replaces the row of its backend. A secret that cannot be decrypted is kept unless a new one is given. */
    readonly save: (tunnel: StoredTunnel) => Effect.Effect<void, StoreError>
    /** Disables it; its settings stay. */
    readonly disable: (backend: TunnelBackend, nowMs: number) => Effect.Effect<void, StoreError>
  }
>() {}

const Row = Schema.Struct({
  backend: TunnelBackend,
  isEnabled: Flag,
  allowKeyless: Flag,
  options: Json(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
  secret: MaybeText,
  updatedAtMs: Whole
})
type Row = typeof Row.Type

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* Secrets
  const table = Table.make(sql, "tunnels", Row)
  const secret = sealedColumn(secrets, "tunnels", "secret", SecretText)

  const toTunnel = (row: Row): StoredTunnel => ({ ...row, secret: secret.open(row.backend, row.secret).value })
  const rowOf = (operation: string, backend: TunnelBackend) => table.first(operation, sql`WHERE backend = ${backend}`)

  const list = Effect.withSpan(
    Effect.map(table.select("TunnelRepo.list", sql`ORDER BY backend`), (rows) => rows.map(toTunnel)),
    "TunnelRepo.list"
  )
  const get = Effect.fn("TunnelRepo.get")((backend: TunnelBackend) =>
    Effect.map(rowOf("TunnelRepo.get", backend), (row) => (row === null ? null : toTunnel(row)))
  )
  const save = Effect.fn("TunnelRepo.save")(function* (tunnel: StoredTunnel) {
    const before = yield* rowOf("TunnelRepo.save", tunnel.backend)
    const row: Row = { ...tunnel, secret: secret.reseal(tunnel.backend, tunnel.secret, before?.secret ?? null) }
    const written =
      before === null
        ? table.insert("TunnelRepo.save", row)
        : table.update("TunnelRepo.save", sql`backend = ${tunnel.backend}`, row)
    yield* Effect.catchTag(written, "AlreadyStored", Effect.die)
  })
  const disable = Effect.fn("TunnelRepo.disable")((backend: TunnelBackend, nowMs: number) =>
    sql`UPDATE tunnels SET is_enabled = 0, updated_at_ms = ${nowMs} WHERE backend = ${backend}`.pipe(
      Effect.asVoid,
      Effect.mapError(Table.named("TunnelRepo.disable"))
    )
  )
  return TunnelRepo.of({ list, get, save, disable })
})

export const layer: Layer.Layer<TunnelRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(TunnelRepo, make)
