/** Reads the usage log (`/api/usage/logs`). Rows are written by `UsageJournal` only. */
import * as SqlClient from "@effect/sql/SqlClient"
import type { Fragment } from "@effect/sql/Statement"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { nanoUsdParts, type Outcome, type UsageRow } from "../../contract/domain/Usage.ts"
import type { StoreError } from "../../store/Errors.ts"
import * as Table from "../../store/engine/Table.ts"
import type { Condition, IdsSelection, TextArm } from "../../store/usage/UsageFacetsSql.ts"
import { readColumns, Row, toUsageRow } from "../../store/usage/UsageColumns.ts"
import { type OwnedBy, ownedCondition } from "../../store/usage/OwnedUsageSql.ts"
import { listed } from "../../store/engine/Engine.ts"

/** Every given field must match. */
export interface UsageFilter {
  /** The beginning of the row's id. */
  readonly idBeginning?: string
  readonly apiKeyId?: string
  readonly batchId?: string
  readonly provider?: string
  readonly connectionId?: string
  readonly model?: string
  readonly requestedModel?: string
  readonly combo?: string
  readonly outcome?: Outcome
  /** Outcome that a status stands for, such as `completed`. */
  readonly endedAs?: Outcome
  readonly sessionId?: string
  readonly tag?: string
  readonly error?: string
  readonly minLatencyMs?: number
  readonly minCostNanoUsd?: number
  readonly cacheHit?: boolean
  /** HTTP statuses, both ends included. */
  readonly status?: readonly [from: number, to: number]
  /** Epoch milliseconds, included. */
  readonly sinceMs?: number
  /** Epoch milliseconds, excluded. */
  readonly untilMs?: number
  /** Owners of the key when the request arrived. */
  readonly ownedBy?: OwnedBy
  /** Contained in one of the texts, or in the status; upper and lower case of A to Z are the same. */
  readonly search?: string
}

export interface UsagePage {
  readonly rows: ReadonlyArray<UsageRow>
  /** Pass it as `cursor` for the rows that follow; null at the end. */
  readonly nextCursor: string | null
}

/** Ids of connections and keys; what is deleted has its last name in the log. */
export type NamedKind = "key" | "connection"

export class UsageRepo extends Context.Tag("gateway/subjects/usage/UsageRepo")<
  UsageRepo,
  {
    /** Newest first. `limit` is clamped to 1 to `mostPerPage`; a null cursor starts at the newest row. */
    readonly page: (query: {
      readonly limit: number
      readonly cursor: string | null
      readonly filter?: UsageFilter
    }) => Effect.Effect<UsagePage, StoreError>
    /**
     * Rows in the order they were written, those behind a position; a row is written when its request ends. `nextCursor` is the position
     * to go on from, and never null. A null position is the end of the log, where no rows are yet.
     */
    readonly written: (query: {
      readonly limit: number
      readonly after: string | null
      readonly filter?: UsageFilter
    }) => Effect.Effect<UsagePage, StoreError>
    /** Rows by their ids, those that match a filter; the newest first. */
    readonly rowsOf: (
      ids: ReadonlyArray<string>,
      filter: UsageFilter
    ) => Effect.Effect<ReadonlyArray<UsageRow>, StoreError>
    /** Finds the last names of connections or keys that were deleted, by their ids. */
    readonly lastNames: (
      kind: NamedKind,
      ids: ReadonlyArray<string>
    ) => Effect.Effect<ReadonlyMap<string, string>, StoreError>
    /** Finds when the request of a row arrived. */
    readonly timeOf: (id: string) => Effect.Effect<number | null, StoreError>
    /** Finds a row by the request's id. */
    readonly get: (id: string) => Effect.Effect<UsageRow | null, StoreError>
  }
>() {}

/** Rows. */
export const mostPerPage = 1000
/** Rows that one page compares with its filter: the database runs in the thread that answers requests. */
export const mostLookedAt = 5_000
/** Ids are in the order of time as long as the clock of a running gateway is not set back by more. */
export const clockSetBackMs = 3_600_000
/** Greater than what an id can hold. */
const lastCharacter = "\u{10ffff}"

/** The least id of a time, as `IdGen` makes them. */
export const idAt = (ms: number): string => {
  const time = Math.max(0, Math.trunc(ms)).toString(16).padStart(12, "0")
  return `${time.slice(0, 8)}-${time.slice(8)}`
}

export const selected = readColumns

/**
 * Orders by the id with the name of the table: `id` alone is the shortened column, by which all rows would have to be
 * sorted.
 */
export const newestFirst = (sql: SqlClient.SqlClient): Fragment => sql`ORDER BY usage_log.id DESC`

/** Columns of texts that are searched. */
const searched = [
  "id",
  "request_id",
  "api_key_id",
  "requested_model",
  "combo",
  "provider",
  "connection_id",
  "model",
  "outcome",
  "error",
  "status"
]
/** Columns of them that rows share. */
const facetTexts = searched.filter((column) => column !== "id" && column !== "request_id" && column !== "error")
/** Characters of an id. */
const idLength = 36

/** The text as a pattern of LIKE. */
const containing = (text: string): string => `%${text.replaceAll(/[\\%_]/g, "\\$&")}%`

const contains = (names: ReadonlyArray<string>, search: string): Condition => ({
  sql: `(${names.map((column) => `CAST(${column} AS TEXT) LIKE ? ESCAPE '\\'`).join(" OR ")})`,
  parameters: names.map(() => containing(search))
})

/** Conditions on a combination of names; `plus` keeps the database from an index that would have to be sorted by id for every page. */
export const nameConditions = (filter: UsageFilter, plus: "" | "+"): ReadonlyArray<Condition> => {
  const { apiKeyId, combo, connectionId, endedAs, model, outcome, provider, requestedModel, status } = filter
  const equal = (column: string, value: string | undefined): ReadonlyArray<Condition> =>
    value === undefined ? [] : [{ sql: `${column} = ?`, parameters: [value] }]
  return [
    ...equal(`${plus}api_key_id`, apiKeyId),
    ...equal("provider", provider),
    ...equal("connection_id", connectionId),
    ...(model === undefined
      ? []
      : [{ sql: "(model = ? OR provider || '/' || model = ?)", parameters: [model, model] }]),
    ...equal("requested_model", requestedModel),
    ...equal("combo", combo),
    ...equal("outcome", outcome),
    ...equal("outcome", endedAs),
    ...(status === undefined ? [] : [{ sql: "status BETWEEN ? AND ?", parameters: status }])
  ]
}

/** Filters whose rows have an index of their own. */
export const isIndexed = ({ batchId, sessionId }: UsageFilter): boolean =>
  batchId !== undefined || sessionId !== undefined

/** Filters that combinations of names do not know, and no index either: rows are looked at one by one. */
export const isScanned = ({ cacheHit, error, minCostNanoUsd, minLatencyMs, ownedBy, tag }: UsageFilter): boolean =>
  [cacheHit, error, minCostNanoUsd, minLatencyMs, ownedBy, tag].some((each) => each !== undefined)

const rowConditions = (filter: UsageFilter): ReadonlyArray<Condition> => {
  const { batchId, cacheHit, error, minCostNanoUsd, minLatencyMs, sessionId, tag } = filter
  const test = (sql: string, value: string | number | undefined): ReadonlyArray<Condition> =>
    value === undefined ? [] : [{ sql, parameters: [value] }]
  return [
    ...test("batch_id = ?", batchId),
    ...test("session_id = ?", sessionId),
    ...test(
      "tags IS NOT NULL AND LENGTH(REPLACE(',' || tags || ',', ?, '')) < LENGTH(tags) + 2",
      tag === undefined ? undefined : `,${tag},`
    ),
    ...test("error IS NOT NULL AND error = ?", error),
    ...test("latency_ms >= ?", minLatencyMs),
    ...test(`cost_nano_usd + cost_nano_parts / ${nanoUsdParts}.0 >= ?`, minCostNanoUsd),
    ...(cacheHit === undefined
      ? []
      : [{ sql: cacheHit ? "answered_from = 'cache'" : "COALESCE(answered_from, '') <> 'cache'", parameters: [] }])
  ]
}

/** Conditions on a row of the log, besides its id and time. `plus`: whether rows are wanted in the order of their ids. */
export const conditionsOf = (filter: UsageFilter, plus: "" | "+" = "+"): ReadonlyArray<Condition> => [
  ...nameConditions(filter, plus),
  ...rowConditions(filter),
  ...(filter.ownedBy === undefined ? [] : [ownedCondition(filter.ownedBy)]),
  ...(filter.search === undefined ? [] : [contains(searched, filter.search)])
]

/** A searched text that can be part of an id has to be looked for in all ids; a whole one is one. */
const idArms = (search: string): ReadonlyArray<TextArm> => {
  if (!/^[0-9a-f-]+$/i.test(search)) return []
  const condition =
    search.length < idLength ? contains(["id"], search) : { sql: "id = ?", parameters: [search.toLowerCase()] }
  return [{ index: "sqlite_autoindex_usage_log_1", condition }]
}

const textArms = (search: string): ReadonlyArray<TextArm> => {
  const inError = contains(["error"], search)
  const inRequest = contains(["request_id"], search)
  return [
    { index: "usage_log_errors", condition: { ...inError, sql: `error IS NOT NULL AND ${inError.sql}` } },
    { index: "usage_log_requests", condition: { ...inRequest, sql: `request_id <> id AND ${inRequest.sql}` } },
    ...idArms(search)
  ]
}

/** Rows of a filter before an id, by the index of the filters. */
export const idsSelection = (filter: UsageFilter, beforeId: string, most: number): IdsSelection => {
  const { idBeginning, search, sinceMs, untilMs } = filter
  const names = nameConditions(filter, "")
  return {
    range: {
      leastId: [idBeginning ?? "", sinceMs === undefined ? "" : idAt(sinceMs)].toSorted().at(-1) ?? "",
      beforeId,
      sinceMs: sinceMs ?? Number.MIN_SAFE_INTEGER,
      untilMs: untilMs ?? Number.MAX_SAFE_INTEGER
    },
    most,
    facets: [...names, ...(search === undefined ? [] : [contains(facetTexts, search)])],
    arms: search === undefined ? [] : textArms(search),
    rows: nameConditions(filter, "+"),
    tail: conditionsOf(filter)
  }
}

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const table = Table.make(sql, "usage_log", Row, readColumns)

  /** Conditions that an index or the order of the ids narrows down; the others are checked for each row. */
  const bounds = ({ idBeginning, sinceMs, untilMs }: UsageFilter) => [
    ...(idBeginning === undefined ? [] : [sql`id >= ${idBeginning}`, sql`id < ${idBeginning + lastCharacter}`]),
    // An id has the time of the row or, after the clock was set back, a later one.
    ...(sinceMs === undefined ? [] : [sql`id >= ${idAt(sinceMs)}`, sql`timestamp_ms >= ${sinceMs}`]),
    ...(untilMs === undefined ? [] : [sql`id < ${idAt(untilMs + clockSetBackMs)}`, sql`timestamp_ms < ${untilMs}`])
  ]

  const tests = (filter: UsageFilter): ReadonlyArray<Fragment> =>
    conditionsOf(filter).map(({ parameters, sql: text }) => sql.unsafe(text, parameters))

  const sizeOf = (limit: number): number => Math.min(Math.max(Math.trunc(limit), 1), mostPerPage)

  /** The id of the last row that a page may look at; null when the log ends before. */
  const lastLookedAt = (range: ReadonlyArray<Fragment>) =>
    sql<{
      readonly id: string
    }>`SELECT id FROM usage_log WHERE ${sql.and(range)} ORDER BY id DESC LIMIT 1 OFFSET ${mostLookedAt - 1}`.pipe(
      Effect.mapBoth({ onFailure: Table.named("UsageRepo.page"), onSuccess: ([row]) => row?.id ?? null })
    )

  const page: Context.Tag.Service<UsageRepo>["page"] = Effect.fn("UsageRepo.page")(function* (query) {
    const limit = sizeOf(query.limit)
    const filter = query.filter ?? {}
    const range = [...(query.cursor === null ? [] : [sql`id < ${query.cursor}`]), ...bounds(filter)]
    const asked = tests(filter)
    const isBounded = asked.length > 0 && !isIndexed(filter)
    const last = isBounded ? yield* lastLookedAt(range) : null
    const where = sql.and([...range, ...(last === null ? [] : [sql`id >= ${last}`]), ...asked])
    // One extra row shows whether another page follows.
    const found = yield* table.select("UsageRepo.page", sql`WHERE ${where} ${newestFirst(sql)} LIMIT ${limit + 1}`)
    const rows = found.slice(0, limit).map(toUsageRow)
    return { rows, nextCursor: found.length > limit ? (rows.at(-1)?.id ?? null) : last }
  })

  const rowNumber = (where: Fragment) =>
    sql<{ readonly n: number | null }>`SELECT MAX(seq) AS n FROM usage_log WHERE ${where}`.pipe(
      Effect.mapBoth({ onFailure: Table.named("UsageRepo.written"), onSuccess: ([row]) => row?.n ?? 0 })
    )

  const written: Context.Tag.Service<UsageRepo>["written"] = Effect.fn("UsageRepo.written")(function* (query) {
    const newest = yield* rowNumber(sql`1 = 1`)
    const given = query.after === null ? newest : Number(query.after.slice(1))
    // A log that was emptied begins again with the first number.
    const from = given > newest ? 0 : given
    const until = Math.min(newest, from + mostLookedAt)
    const limit = sizeOf(query.limit)
    const filter = query.filter ?? {}
    const where = sql.and([sql`seq > ${from}`, sql`seq <= ${until}`, ...bounds(filter), ...tests(filter)])
    const found = yield* table.select("UsageRepo.written", sql`WHERE ${where} ORDER BY seq LIMIT ${limit}`)
    const last = found.at(-1)
    const next = found.length < limit || last === undefined ? until : yield* rowNumber(sql`id = ${last.id}`)
    return { rows: found.map(toUsageRow), nextCursor: `w${next}` }
  })

  const get = Effect.fn("UsageRepo.get")(function* (id: string) {
    const row = yield* table.first("UsageRepo.get", sql`WHERE id = ${id}`)
    return row === null ? null : toUsageRow(row)
  })

  const rowsOf = Effect.fn("UsageRepo.rowsOf")((ids: ReadonlyArray<string>, filter: UsageFilter) =>
    Effect.map(
      table.select(
        "UsageRepo.rowsOf",
        sql`WHERE ${sql.and([sql`id IN (${listed(sql, ids)})`, ...tests(filter)])} ${newestFirst(sql)}`
      ),
      (rows) => rows.map(toUsageRow)
    )
  )

  const lastNames = Effect.fn("UsageRepo.lastNames")((kind: NamedKind, ids: ReadonlyArray<string>) =>
    sql<{ readonly id: string; readonly name: string }>`
      SELECT id, name FROM usage_names WHERE kind = ${kind} AND id IN (${listed(sql, ids)})`.pipe(
      Effect.mapBoth({
        onFailure: Table.named("UsageRepo.lastNames"),
        onSuccess: (found) => new Map(found.map(({ id, name }) => [id, name] as const))
      })
    )
  )

  const timeOf = Effect.fn("UsageRepo.timeOf")((id: string) =>
    sql<{ readonly timestampMs: number }>`SELECT timestamp_ms FROM usage_log WHERE id = ${id}`.pipe(
      Effect.mapBoth({
        onFailure: Table.named("UsageRepo.timeOf"),
        onSuccess: ([found]) => found?.timestampMs ?? null
      })
    )
  )

  return UsageRepo.of({ page, written, rowsOf, lastNames, timeOf, get })
})

export const layer: Layer.Layer<UsageRepo, never, SqlClient.SqlClient> = Layer.effect(UsageRepo, make)

/** Rows of one part: some 5 ms. */
const rowsOfPart = 100

export interface PageQuery {
  readonly limit: number
  readonly cursor: string | null
  readonly filter: UsageFilter
}

/**
 * Reads what `page` would give, in parts with a turn of others between them: to read and decode a thousand rows in one go makes everybody wait. `turn`
 * waits until the event loop has done what is ready. Returns the cursor.
 */
export const inParts = Effect.fn("UsageRepo.inParts")(function* (
  { page }: Pick<Context.Tag.Service<UsageRepo>, "page">,
  turn: Effect.Effect<void>,
  { cursor: from, filter, limit }: PageQuery,
  take: (rows: ReadonlyArray<UsageRow>) => void
) {
  let count = 0
  let cursor: string | null = from
  for (;;) {
    const wanted = Math.min(rowsOfPart, limit - count)
    const part: UsagePage = yield* page({ limit: wanted, cursor, filter })
    take(part.rows)
    count += part.rows.length
    cursor = part.nextCursor
    if (cursor === null || part.rows.length < wanted || count >= limit) return cursor
    yield* turn
  }
})

/** Gives the same as one page. */
export const pageInParts = (
  repo: Pick<Context.Tag.Service<UsageRepo>, "page">,
  turn: Effect.Effect<void>,
  query: PageQuery
): Effect.Effect<UsagePage, StoreError> =>
  Effect.suspend(() => {
    const rows: Array<UsageRow> = []
    const take = (part: ReadonlyArray<UsageRow>): void => {
      for (const row of part) rows.push(row)
    }
    return Effect.map(inParts(repo, turn, query, take), (nextCursor) => ({ rows, nextCursor }))
  })
