/**
 * Use by API keys, for their limits. Whole hours come from the sums of the usage log, which include deleted rows; the rest from the log's
 * rows and, by the minute, from the sums of deleted ones.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { StoreError } from "../../store/Errors.ts"
import { moneyOf } from "../../store/usage/MoneyColumns.ts"
import { withSnapshot } from "../../store/engine/Client.ts"
import * as Table from "../../store/engine/Table.ts"
import { idAt } from "./repo.ts"
import { hourMs, minuteMs, otherModel, summedSeq } from "../../store/usage/UsageSumsSql.ts"
import { idsIn } from "../../store/usage/UsageInsert.ts"

/** Requests that arrived from `sinceMs` on and before `untilMs` (epoch milliseconds). */
export interface SpendQuery {
  readonly apiKeyId: string
  readonly sinceMs: number
  readonly untilMs: number
  readonly provider?: string
  readonly model?: string
}

/** Use by a key in a part of a range. */
export type OwnedQuery = Pick<SpendQuery, "apiKeyId" | "sinceMs" | "untilMs">

export interface Spend {
  readonly requests: number
  /** Tokens of prompts and answers. */
  readonly tokens: number
  readonly costNanoUsd: number
}

/** Use by one key, of all models or of one of them. */
export interface KeySpend extends Spend {
  readonly apiKeyId: string
  /** Empty where all providers and models are taken together. */
  readonly provider: string
  readonly model: string
}

export class SpendRepo extends Context.Tag("gateway/subjects/usage/SpendRepo")<
  SpendRepo,
  {
    readonly sum: (query: SpendQuery) => Effect.Effect<Spend, StoreError>
    /**
     * The same, and which of some rows it has in it, by their ids. They are asked for once nothing can be written any more, so that a caller who
     * counts along knows what it has counted twice.
     */
    readonly sumWith: (
      query: SpendQuery,
      recent: () => ReadonlyArray<string>
    ) => Effect.Effect<Spend & { readonly included: ReadonlySet<string> }, StoreError>
    /**
     * Sums the use of every key in a range of time, in one statement. Requests are those that no limit refused. With `byModel` the keys that
     * have a token limit of a provider or model only, by provider and model.
     */
    readonly sums: (
      range: Pick<SpendQuery, "sinceMs" | "untilMs">,
      byModel: boolean
    ) => Effect.Effect<ReadonlyArray<KeySpend>, StoreError>
    /**
     * Sums the use of some keys, each in its part of a range, in one view of the log; and which of some rows are in that view, as `sumWith`. Requests
     * are those that no limit refused.
     */
    readonly ownedWith: (
      range: Pick<SpendQuery, "sinceMs" | "untilMs">,
      owned: ReadonlyArray<OwnedQuery>,
      recent: () => ReadonlyArray<string>
    ) => Effect.Effect<Spend & { readonly included: ReadonlySet<string> }, StoreError>
    /**
     * Finds when keys have last asked since a time (epoch milliseconds), by their ids; those that have not are left
     * out.
     */
    readonly lastArrivals: (sinceMs: number) => Effect.Effect<ReadonlyMap<string, number>, StoreError>
    /** Selects the requests that have a row. */
    readonly booked: (requestIds: ReadonlyArray<string>) => Effect.Effect<ReadonlySet<string>, StoreError>
    /** Arrival times (epoch milliseconds) of the key's newest requests that were not refused by a limit; the newest first. */
    readonly arrivals: (
      apiKeyId: string,
      sinceMs: number,
      limit: number
    ) => Effect.Effect<ReadonlyArray<number>, StoreError>
  }
>() {}

/** Part of a time range. */
interface Part {
  readonly fromMs: number
  readonly untilMs: number
}

/** A range as its whole hours and what lies before and after them. An hour that is not over is whole when the range has all of it so far. */
export const partsOf = (
  { sinceMs, untilMs }: Pick<SpendQuery, "sinceMs" | "untilMs">,
  nowMs: number
): { readonly hours: Part; readonly edges: ReadonlyArray<Part> } => {
  const first = Math.ceil(sinceMs / hourMs) * hourMs
  const last = (untilMs > nowMs ? Math.ceil(untilMs / hourMs) : Math.floor(untilMs / hourMs)) * hourMs
  if (last <= first) return { hours: { fromMs: first, untilMs: first }, edges: [{ fromMs: sinceMs, untilMs }] }
  const edges = [
    { fromMs: sinceMs, untilMs: first },
    { fromMs: last, untilMs }
  ]
  return {
    hours: { fromMs: first, untilMs: last },
    edges: edges.filter((edge) => edge.fromMs < edge.untilMs)
  }
}

const floorMinute = (ms: number): number => Math.floor(ms / minuteMs) * minuteMs

const sum = Effect.fn("SpendRepo.sum")(function* (sql: SqlClient.SqlClient, query: SpendQuery, admitted = false) {
  const { apiKeyId, model, provider } = query
  const { edges, hours } = partsOf(query, yield* Clock.currentTimeMillis)
  const scope = provider === undefined ? sql`1 = 1` : sql`provider = ${provider}`
  const rows = model === undefined ? scope : sql.and([scope, sql`model = ${model}`])
  // Models that a period took together may be the one that is asked for.
  const sums = model === undefined ? scope : sql.and([scope, sql`model IN (${model}, ${otherModel})`])
  const cost = "cost_nano_usd, cost_nano_parts"
  const [one, many] = admitted ? ["NOT (attempts = 0 AND status = 429)", "admitted"] : ["1", "requests"]
  const ofLog = sql.literal(`${one} AS requests, tokens_in + tokens_out AS tokens, ${cost}`)
  const ofSums = sql.literal(`${many} AS requests, tokens_in + tokens_out AS tokens, ${cost}`)
  const parts = [
    sql`SELECT ${ofSums} FROM usage_hours
        WHERE api_key_id = ${apiKeyId} AND start_ms >= ${hours.fromMs} AND start_ms < ${hours.untilMs} AND ${sums}`,
    // The sign keeps the database from the index of the keys: the rows that are not in the sums yet are few.
    sql`SELECT ${ofLog} FROM usage_log WHERE seq > ${sql.literal(summedSeq)} AND +api_key_id = ${apiKeyId}
        AND timestamp_ms >= ${hours.fromMs} AND timestamp_ms < ${hours.untilMs} AND ${rows}`,
    ...edges.flatMap(({ fromMs, untilMs }) => [
      sql`SELECT ${ofLog} FROM usage_log
          WHERE api_key_id = ${apiKeyId} AND timestamp_ms >= ${fromMs} AND timestamp_ms < ${untilMs} AND ${rows}`,
      sql`SELECT ${ofSums} FROM usage_minutes
          WHERE api_key_id = ${apiKeyId} AND start_ms >= ${floorMinute(fromMs)} AND start_ms < ${untilMs} AND ${sums}`
    ])
  ]
  const union = sql.join(" UNION ALL ", false)(parts)
  return yield* sql<Spend>`
      SELECT COALESCE(SUM(requests), 0) AS requests, COALESCE(SUM(tokens), 0) AS tokens,
        ${sql.literal(moneyOf("COALESCE(SUM(cost_nano_usd), 0)", "COALESCE(SUM(cost_nano_parts), 0)"))} AS cost_nano_usd
      FROM (${union}) AS parts`.pipe(
    Effect.mapBoth({
      onFailure: Table.named("SpendRepo.sum"),
      onSuccess: ([row]) => row ?? { requests: 0, tokens: 0, costNanoUsd: 0 }
    })
  )
})

const sums = Effect.fn("SpendRepo.sums")(
  function* (sql: SqlClient.SqlClient, range: Pick<SpendQuery, "sinceMs" | "untilMs">, byModel: boolean) {
    const { edges, hours } = partsOf(range, yield* Clock.currentTimeMillis)
    const names = sql.literal(byModel ? "api_key_id, provider, model" : "api_key_id, '' AS provider, '' AS model")
    const keys = byModel
      ? sql`api_key_id IN (SELECT api_key_id FROM token_limits WHERE scope_type <> 'global')`
      : sql`api_key_id <> ''`
    const ofLog = sql`${names}, CASE WHEN attempts = 0 AND status = 429 THEN 0 ELSE 1 END AS requests, tokens_in + tokens_out AS tokens, cost_nano_usd, cost_nano_parts`
    const ofSums = sql`${names}, admitted AS requests, tokens_in + tokens_out AS tokens, cost_nano_usd, cost_nano_parts`
    const parts = [
      sql`SELECT ${ofSums} FROM usage_hours WHERE start_ms >= ${hours.fromMs} AND start_ms < ${hours.untilMs} AND +${keys}`,
      sql`SELECT ${ofLog} FROM usage_log WHERE seq > ${sql.literal(summedSeq)} AND +${keys}
          AND timestamp_ms >= ${hours.fromMs} AND timestamp_ms < ${hours.untilMs}`,
      ...edges.flatMap(({ fromMs, untilMs }) => [
        // Times have no index of their own, ids are in the order of time.
        sql`SELECT ${ofLog} FROM usage_log WHERE id >= ${idAt(fromMs)} AND id < ${idAt(untilMs + hourMs)} AND +${keys}
            AND timestamp_ms >= ${fromMs} AND timestamp_ms < ${untilMs}`,
        sql`SELECT ${ofSums} FROM usage_minutes WHERE start_ms >= ${floorMinute(fromMs)} AND start_ms < ${untilMs} AND +${keys}`
      ])
    ]
    return yield* sql<KeySpend>`
        SELECT api_key_id, provider, model, SUM(requests) AS requests, SUM(tokens) AS tokens,
          ${sql.literal(moneyOf("SUM(cost_nano_usd)", "SUM(cost_nano_parts)"))} AS cost_nano_usd
        FROM (${sql.join(" UNION ALL ", false)(parts)}) AS parts GROUP BY 1, 2, 3`
  },
  Effect.mapError(Table.named("SpendRepo.sums"))
)

const lastArrivals = Effect.fn("SpendRepo.lastArrivals")((sql: SqlClient.SqlClient, sinceMs: number) =>
  sql<{ readonly apiKeyId: string; readonly lastMs: number }>`
      SELECT api_key_id, MAX(last_ms) AS last_ms FROM (
        SELECT api_key_id, last_ms FROM usage_hours WHERE start_ms >= ${Math.floor(sinceMs / hourMs) * hourMs}
        UNION ALL SELECT api_key_id, timestamp_ms AS last_ms FROM usage_log WHERE seq > ${sql.literal(summedSeq)}
      ) AS arrivals WHERE last_ms >= ${sinceMs} AND api_key_id <> '' GROUP BY api_key_id`.pipe(
    Effect.mapBoth({
      onFailure: Table.named("SpendRepo.lastArrivals"),
      onSuccess: (rows): ReadonlyMap<string, number> => new Map(rows.map(({ apiKeyId, lastMs }) => [apiKeyId, lastMs]))
    })
  )
)

const sumWith = Effect.fn("SpendRepo.sumWith")(
  (sql: SqlClient.SqlClient, query: SpendQuery, recent: () => ReadonlyArray<string>) =>
    withSnapshot(
      sql,
      Effect.gen(function* () {
        const included = yield* idsIn(sql, recent())
        return { ...(yield* sum(sql, query)), included }
      })
    ).pipe(Effect.mapError(Table.named("SpendRepo.sumWith")))
)

/** Keys that had one owner in all of the range come from one statement; those that moved are few. */
const ownedWith = Effect.fn("SpendRepo.ownedWith")(
  (
    sql: SqlClient.SqlClient,
    range: Pick<SpendQuery, "sinceMs" | "untilMs">,
    owned: ReadonlyArray<OwnedQuery>,
    recent: () => ReadonlyArray<string>
  ) =>
    withSnapshot(
      sql,
      Effect.gen(function* () {
        const included = yield* idsIn(sql, recent())
        const isWhole = ({ sinceMs, untilMs }: OwnedQuery) => sinceMs <= range.sinceMs && untilMs >= range.untilMs
        const whole = new Set(owned.filter(isWhole).map(({ apiKeyId }) => apiKeyId))
        const all = whole.size === 0 ? [] : yield* sums(sql, range, false)
        const found: Array<Spend> = all.filter(({ apiKeyId }) => whole.has(apiKeyId))
        for (const query of owned) if (!isWhole(query)) found.push(yield* sum(sql, query, true))
        const total = { requests: 0, tokens: 0, costNanoUsd: 0 }
        for (const { costNanoUsd, requests, tokens } of found) {
          total.requests += requests
          total.tokens += tokens
          total.costNanoUsd += costNanoUsd
        }
        return { ...total, included }
      })
    ).pipe(Effect.mapError(Table.named("SpendRepo.ownedWith")))
)

/** Deleted requests count as having arrived at the end of their minute. */
const deletedArrivals = (sql: SqlClient.SqlClient, apiKeyId: string, sinceMs: number) =>
  sql<{ readonly startMs: number; readonly admitted: number }>`
      SELECT start_ms, SUM(admitted) AS admitted FROM usage_minutes
      WHERE api_key_id = ${apiKeyId} AND start_ms >= ${floorMinute(sinceMs)} GROUP BY start_ms ORDER BY start_ms DESC`

const arrivals = Effect.fn("SpendRepo.arrivals")(
  function* (sql: SqlClient.SqlClient, apiKeyId: string, sinceMs: number, limit: number) {
    const rows = yield* sql<{ readonly timestampMs: number }>`
        SELECT timestamp_ms FROM usage_log
        WHERE api_key_id = ${apiKeyId} AND timestamp_ms >= ${sinceMs} AND NOT (attempts = 0 AND status = 429)
        ORDER BY timestamp_ms DESC LIMIT ${limit}`
    const times = rows.map(({ timestampMs }) => timestampMs)
    const deleted = yield* deletedArrivals(sql, apiKeyId, sinceMs)
    if (deleted.length === 0) return times
    let room = limit
    for (const { admitted, startMs } of deleted) {
      for (let count = Math.min(admitted, room); count > 0; count -= 1) times.push(startMs + minuteMs - 1)
      room = Math.max(0, room - admitted)
    }
    return times.toSorted((a, b) => b - a).slice(0, limit)
  },
  Effect.mapError(Table.named("SpendRepo.arrivals"))
)

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  return SpendRepo.of({
    sum: (query) => sum(sql, query),
    sumWith: (query, recent) => sumWith(sql, query, recent),
    sums: (range, byModel) => sums(sql, range, byModel),
    ownedWith: (range, owned, recent) => ownedWith(sql, range, owned, recent),
    lastArrivals: (sinceMs) => lastArrivals(sql, sinceMs),
    booked: Effect.fn("SpendRepo.booked")((ids) => Effect.mapError(idsIn(sql, ids), Table.named("SpendRepo.booked"))),
    arrivals: (apiKeyId, sinceMs, limit) => arrivals(sql, apiKeyId, sinceMs, limit)
  })
})

export const layer: Layer.Layer<SpendRepo, never, SqlClient.SqlClient> = Layer.effect(SpendRepo, make)
