/** The audit log. Bounded by age and by number; requests of callers who may not do them have a smaller part of their own. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Schema from "effect/Schema"
import { anonymous, type AuditDetails, type AuditFilter, type AuditRow } from "./entity.ts"
import type { StoreError } from "../../store/Errors.ts"
import { type ReadRefused, type ReadRow, type ReadValue, ReadWorker } from "../../store/engine/ReadWorker.ts"
import * as Table from "../../store/engine/Table.ts"

/**
 * Limits of the stored rows. Requests without a credential, or with one that does not suffice, cannot push the rows of
 * administrators out.
 */
export const limits = { maxAgeMs: 180 * 86_400_000, maxRows: 100_000, maxAnonymousRows: 10_000 }

export interface AuditPage {
  readonly rows: ReadonlyArray<AuditRow>
  /** All rows that fit the filter. */
  readonly total: number
}

export class AuditRepo extends Context.Tag("gateway/subjects/audit/AuditRepo")<
  AuditRepo,
  {
    /** All in one statement. Those whose id is there already are skipped. */
    readonly add: (rows: ReadonlyArray<AuditRow>) => Effect.Effect<void, StoreError>
    /** Newest first; read on the reading thread. */
    readonly page: (filter: AuditFilter, limit: number, offset: number) => Effect.Effect<AuditPage, ReadRefused>
    /** Removes what is beyond the limits. */
    readonly trim: (nowMs: number) => Effect.Effect<void, StoreError>
  }
>() {}

const insertRows = `
  INSERT INTO audit_log (id, timestamp_ms, action, actor, target, resource_type, status, ip, details)
  SELECT value ->> 'id', CAST(value ->> 'timestampMs' AS BIGINT), value ->> 'action', value ->> 'actor', value ->> 'target',
    value ->> 'resourceType', value ->> 'status', value ->> 'ip', value -> 'details'
  FROM json_each(?) AS entries WHERE TRUE ORDER BY entries.id
  ON CONFLICT DO NOTHING`

const unadmitted = `(actor = '${anonymous}' OR CAST(details ->> 'httpStatus' AS BIGINT) IN (401, 403))`

const beyond = (which: string, most: number): string =>
  `DELETE FROM audit_log WHERE ${which} AND seq <=
    (SELECT seq FROM audit_log WHERE ${which} ORDER BY seq DESC LIMIT 1 OFFSET ${most})`

interface Condition {
  readonly sql: string
  readonly parameters: ReadonlyArray<ReadValue>
}

const textIs = (column: string, wanted: string | undefined): ReadonlyArray<Condition> => {
  if (wanted === undefined) return []
  if (!wanted.endsWith("*")) return [{ sql: `${column} = ?`, parameters: [wanted] }]
  const start = wanted.slice(0, -1)
  return [{ sql: `substr(${column}, 1, length(?)) = ?`, parameters: [start, start] }]
}

const conditionsOf = (filter: AuditFilter): ReadonlyArray<Condition> => [
  ...textIs("action", filter.action),
  ...textIs("actor", filter.actor),
  ...textIs("target", filter.target),
  ...textIs("id", filter.requestId),
  ...textIs("status", filter.status),
  ...(filter.fromMs === undefined ? [] : [{ sql: "timestamp_ms >= ?", parameters: [filter.fromMs] }]),
  ...(filter.toMs === undefined ? [] : [{ sql: "timestamp_ms < ?", parameters: [filter.toMs] }])
]

const rowOf = (row: ReadRow): AuditRow => ({
  id: String(row["id"]),
  timestampMs: Number(row["timestamp_ms"]),
  action: String(row["action"]),
  actor: String(row["actor"]),
  target: row["target"] === null ? null : String(row["target"]),
  resourceType: String(row["resource_type"]),
  status: row["status"] === "success" ? "success" : "failure",
  ip: String(row["ip"]),
  details: detailsOf(String(row["details"]))
})

const Details: Schema.Schema<AuditDetails, string> = Schema.parseJson(
  Schema.Struct({
    httpStatus: Schema.Number,
    code: Schema.optionalWith(Schema.String, { exact: true }),
    apiKeyName: Schema.optionalWith(Schema.String, { exact: true }),
    userId: Schema.optionalWith(Schema.String, { exact: true }),
    userName: Schema.optionalWith(Schema.String, { exact: true }),
    asKey: Schema.optionalWith(Schema.String, { exact: true }),
    fields: Schema.optionalWith(Schema.Array(Schema.String), { exact: true }),
    changes: Schema.optionalWith(
      Schema.Array(
        Schema.Struct({
          field: Schema.String,
          before: Schema.optionalWith(Schema.Unknown, { exact: true }),
          after: Schema.optionalWith(Schema.Unknown, { exact: true }),
          hidden: Schema.optionalWith(Schema.Literal(true), { exact: true })
        })
      ),
      { exact: true }
    )
  })
)
const detailsOf = Schema.decodeUnknownSync(Details)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const worker = yield* ReadWorker

  const add = Effect.fn("AuditRepo.add")((rows: ReadonlyArray<AuditRow>) =>
    sql.unsafe(insertRows, [JSON.stringify(rows)]).pipe(Effect.asVoid, Effect.mapError(Table.named("AuditRepo.add")))
  )

  const page = Effect.fn("AuditRepo.page")((filter: AuditFilter, limit: number, offset: number) => {
    const conditions = conditionsOf(filter)
    const where = conditions.length === 0 ? "" : `WHERE ${conditions.map((one) => one.sql).join(" AND ")}`
    const parameters = conditions.flatMap((one) => one.parameters)
    return Effect.map(
      worker.read([
        {
          sql: `SELECT * FROM audit_log ${where} ORDER BY seq DESC LIMIT ? OFFSET ?`,
          parameters: [...parameters, limit, offset]
        },
        { sql: `SELECT COUNT(*) AS total FROM audit_log ${where}`, parameters }
      ]),
      ([rows = [], counts = []]) => ({ rows: rows.map(rowOf), total: Number(counts[0]?.["total"] ?? 0) })
    )
  })

  const trim = Effect.fn("AuditRepo.trim")((nowMs: number) =>
    Effect.gen(function* () {
      yield* sql`DELETE FROM audit_log WHERE timestamp_ms < ${Math.trunc(nowMs - limits.maxAgeMs)}`
      yield* sql.unsafe(beyond(`NOT ${unadmitted}`, limits.maxRows))
      yield* sql.unsafe(beyond(unadmitted, limits.maxAnonymousRows))
    }).pipe(sql.withTransaction, Effect.mapError(Table.named("AuditRepo.trim")))
  )
  return AuditRepo.of({ add, page, trim })
})

export const layer: Layer.Layer<AuditRepo, never, SqlClient.SqlClient | ReadWorker> = Layer.effect(AuditRepo, make)
