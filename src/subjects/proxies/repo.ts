/** Egress proxies and who uses them. Passwords are encrypted. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { type Proxy, type ProxyAssignment, ProxyFamily, ProxyScope, ProxySource, ProxyType } from "./entity.ts"
import { Flag, MaybeText, Text, Whole } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { SecretText, sealedColumn } from "../../store/secrets/SealedColumns.ts"
import { Secrets } from "../../store/secrets/Secrets.ts"
import * as Table from "../../store/engine/Table.ts"
import * as Records from "../../store/engine/Records.ts"

export class ProxyRepo extends Context.Tag("gateway/subjects/proxies/ProxyRepo")<
  ProxyRepo,
  Records.Records<Proxy, Proxy> & {
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
  const assigned = Table.make(sql, "proxy_assignments", AssignmentRow)
  const password = sealedColumn(secrets, "proxies", "password", SecretText)

  const { read, write } = Records.sealed(Row, { password })
  const records = Records.mapped(
    sql,
    { name: "ProxyRepo", table: "proxies", row: Row },
    {
      read: (row: Row): Proxy => {
        const { family, locked, ...proxy } = read(row)
        return { ...proxy, family: isFamily(family) ? family : "auto", isReadable: !locked }
      },
      write
    }
  )

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
        : sql`INSERT INTO proxy_assignments ${sql.insert({ scope, scopeId: scopeId ?? "", proxyId })}
            ON CONFLICT (scope, scope_id) DO UPDATE SET proxy_id = excluded.proxy_id`.pipe(
            Effect.asVoid,
            Effect.mapError(Table.named("ProxyRepo.assign"))
          )
  )
  return ProxyRepo.of({ ...records, assignments, assign })
})

export const layer: Layer.Layer<ProxyRepo, never, SqlClient.SqlClient | Secrets> = Layer.effect(ProxyRepo, make)
