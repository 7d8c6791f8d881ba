/** Reads the usage log (`/api/usage/logs`). Rows are written by `UsageJournal` only. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Outcome, UsageRow } from "../../domain/Usage.ts"
import type { StoreError } from "../Errors.ts"
import * as Table from "../Table.ts"
import { readColumns, Row, toUsageRow } from "../UsageColumns.ts"

/** Every given field must match. */
export interface UsageFilter {
  readonly apiKeyId?: string
  readonly provider?: string
  readonly connectionId?: string
  readonly model?: string
  readonly outcome?: Outcome
  /** Epoch milliseconds, included. */
  readonly sinceMs?: number
  /** Epoch milliseconds, excluded. */
  readonly untilMs?: number
}

export interface UsagePage {
  readonly rows: ReadonlyArray<UsageRow>
  /** Pass it as `cursor` for the rows that follow; null at the end. */
  readonly nextCursor: string | null
}

export class UsageRepo extends Context.Tag("gateway/store/UsageRepo")<
  UsageRepo,
  {
    /** Newest first. `limit` is clamped to 1 to `mostPerPage`; a null cursor starts at the newest row. */
    readonly page: (query: {
      readonly limit: number
      readonly cursor: string | null
      readonly filter?: UsageFilter
    }) => Effect.Effect<UsagePage, StoreError>
    /** By the request's id. */
    readonly get: (id: string) => Effect.Effect<UsageRow | null, StoreError>
  }
>() {}

/** Rows. */
export const mostPerPage = 1000

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "usage_log", Row, readColumns)

  const conditions = (cursor: string | null, filter: UsageFilter) => {
    const { apiKeyId, connectionId, model, outcome, provider, sinceMs, untilMs } = filter
    return [
      ...(cursor === null ? [] : [sql`id < ${cursor}`]),
      ...(apiKeyId === undefined ? [] : [sql`api_key_id = ${apiKeyId}`]),
      ...(provider === undefined ? [] : [sql`provider = ${provider}`]),
      ...(connectionId === undefined ? [] : [sql`connection_id = ${connectionId}`]),
      ...(model === undefined ? [] : [sql`model = ${model}`]),
      ...(outcome === undefined ? [] : [sql`outcome = ${outcome}`]),
      ...(sinceMs === undefined ? [] : [sql`timestamp_ms >= ${sinceMs}`]),
      ...(untilMs === undefined ? [] : [sql`timestamp_ms < ${untilMs}`])
    ]
  }

  const page: Context.Tag.Service<UsageRepo>["page"] = Effect.fn("UsageRepo.page")(function* (query) {
    const limit = Math.min(Math.max(Math.trunc(query.limit), 1), mostPerPage)
    const where = sql.and(conditions(query.cursor, query.filter ?? {}))
    // One extra row shows whether another page follows.
    const found = yield* table.select("UsageRepo.page", sql`WHERE ${where} ORDER BY id DESC LIMIT ${limit + 1}`)
    const rows = found.slice(0, limit).map(toUsageRow)
    return { rows, nextCursor: found.length > limit ? (rows.at(-1)?.id ?? null) : null }
  })

  const get = Effect.fn("UsageRepo.get")(function* (id: string) {
    const row = yield* table.first("UsageRepo.get", sql`WHERE id = ${id}`)
    return row === null ? null : toUsageRow(row)
  })
  return UsageRepo.of({ page, get })
})

export const layer: Layer.Layer<UsageRepo, never, SqlClient.SqlClient> = Layer.effect(UsageRepo, make)
