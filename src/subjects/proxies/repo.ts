/** Egress proxies and who uses them. Passwords are encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type Proxy, type ProxyAssignment, ProxyFamily, ProxyScope, ProxySource, ProxyType } from "./entity.ts"
import { Flag, MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import type { AlreadyStored, StoreError } from "../../store/Errors.ts"
import { SecretText, sealedColumn } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"

export class ProxyRepo extends Context.Tag("gateway/subjects/proxies/ProxyRepo")<
  ProxyRepo,
  {
    /** Oldest first. */
    readonly list: Effect.Effect<ReadonlyArray<Proxy>, StoreError>
    readonly get: (id: string) => Effect.Effect<Proxy | null, StoreError>
    readonly insert: (proxy: Proxy) => Effect.Effect<void, StoreError | AlreadyStored>
    /** A password that cannot be decrypted is kept unless a new one is given. False when there is no such id. */
    readonly update: (proxy: Proxy) => Effect.Effect<boolean, StoreError | AlreadyStored>
    /** Removes a proxy; its assignments stay. False when there is no such id. */
    readonly remove: (id: string) => Effect.Effect<boolean, StoreError>
    readonly assignments: Effect.Effect<ReadonlyArray<ProxyAssignment>, StoreError>
    /** `proxyId` null: the scope has no proxy of its own any more. */
    readonly assign: (
      scope: ProxyScope,
      scopeId: string | null,
      proxyId: string | null
    ) => Effect.Effect<void, StoreError>
  }
>() {}

const Row = Schema.Struct({
  id: Text,
  name: Text,
  type: ProxyType,
  host: Text,
  port: Whole,
  username: MaybeText,
  password: MaybeText,
  family: Text,
  source: ProxySource,
  isActive: Flag,
  createdAtMs: Whole,
  updatedAtMs: Whole
})
type Row = typeof Row.Type

const AssignmentRow = Schema.Struct({ scope: ProxyScope, scopeId: Text, proxyId: Text })

const isFamily = Schema.is(ProxyFamily)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const secrets = yield* Secrets
  const table = Table.make(sql, "proxies", Row)
  const assigned = Table.make(sql, "proxy_assignments", AssignmentRow)
  const password = sealedColumn(secrets, "proxies", "password", SecretText)

  const toProxy = ({ family, ...row }: Row): Proxy => {
    const opened = password.open(row.id, row.password)
    return { ...row, family: isFamily(family) ? family : "auto", password: opened.value, isReadable: !opened.locked }
  }

  const toRow = (proxy: Proxy, before: Row | null): Row => ({
    id: proxy.id,
    name: proxy.name,
    type: proxy.type,
    host: proxy.host,
    port: proxy.port,
    username: proxy.username,
    family: proxy.family,
    source: proxy.source,
    isActive: proxy.isActive,
    createdAtMs: proxy.createdAtMs,
    updatedAtMs: proxy.updatedAtMs,
    password: password.reseal(proxy.id, proxy.password, before?.password ?? null)
  })

  const rowOf = (operation: string, id: string) => table.first(operation, sql`WHERE id = ${id}`)

  const list = Effect.withSpan(
    Effect.map(table.select("ProxyRepo.list", sql`ORDER BY created_at_ms, id`), (rows) => rows.map(toProxy)),
    "ProxyRepo.list"
  )
  const get = Effect.fn("ProxyRepo.get")((id: string) =>
    Effect.map(rowOf("ProxyRepo.get", id), (row) => (row === null ? null : toProxy(row)))
  )
  const insert = Effect.fn("ProxyRepo.insert")((proxy: Proxy) => table.insert("ProxyRepo.insert", toRow(proxy, null)))
  const update = Effect.fn("ProxyRepo.update")(function* (proxy: Proxy) {
    const before = yield* rowOf("ProxyRepo.update", proxy.id)
    if (before === null) return false
    return yield* table.update("ProxyRepo.update", sql`id = ${proxy.id}`, toRow(proxy, before))
  })
  const remove = Effect.fn("ProxyRepo.remove")((id: string) => table.remove("ProxyRepo.remove", sql`id = ${id}`))

  const assignments = Effect.withSpan(
    Effect.map(assigned.select("ProxyRepo.assignments", sql`ORDER BY scope, scope_id`), (rows) =>
      rows.map(({ scopeId, ...row }): ProxyAssignment => ({ ...row, scopeId: row.scope === "global" ? null : scopeId }))
    ),
    "ProxyRepo.assignments"
  )
  const assign = Effect.fn("ProxyRepo.assign")(
    (scope: ProxyScope, scopeId: string | null, proxyId: string | null): Effect.Effect<void, StoreError> =>
      proxyId === null
        ? Effect.asVoid(assigned.remove("ProxyRepo.assign", sql`scope = ${scope} AND scope_id = ${scopeId ?? ""}`))
        : sql`INSERT OR REPLACE INTO proxy_assignments ${sql.insert({ scope, scopeId: scopeId ?? "", proxyId })}`.pipe(
            Effect.asVoid,
            Effect.mapError(Table.named("ProxyRepo.assign"))
          )
  )
  return ProxyRepo.of({ list, get, insert, update, remove, assignments, assign })
})

export const layer: Layer.Layer<ProxyRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(ProxyRepo, make)
