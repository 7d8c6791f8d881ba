/**
 * Sums of usage over a range of time, read on the reading thread: from the sums by hour or day, and from the rows that are not in them yet.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { nanoUsdParts } from "../../contract/domain/Usage.ts"
import type { UsageSource } from "./entity.ts"
import { type ReadRefused, type ReadRow, type ReadStatement, ReadWorker } from "../../store/engine/ReadWorker.ts"
import {
  dayMs,
  days,
  dimensions,
  type Grain,
  hourMs,
  hours,
  minuteMs,
  rowsAsSums,
  sumNames,
  summedSeq
} from "../../store/usage/UsageSumsSql.ts"
import { inMovedPeriod, type OwnedBy, ownedCondition, ownedPeriods } from "../../store/usage/OwnedUsageSql.ts"
import { idAt } from "../usage/repo.ts"

export interface UsageSums {
  readonly requests: number
  readonly completed: number
  readonly aborted: number
  /** Requests of unknown price, which cost 0 here. */
  readonly unpriced: number
  readonly tokensIn: number
  readonly tokensOut: number
  readonly tokensCacheRead: number
  readonly tokensCacheWrite: number
  readonly tokensReasoning: number
  readonly costNanoUsd: number
  /** Latency of all requests together, in ms. */
  readonly latencyMs: number
  /** Time to first content of the requests that had one together, in ms, and their number. */
  readonly ttftMs: number
  readonly ttftCount: number
  /** Time at which the latest request arrived, epoch milliseconds; null without one. */
  readonly lastMs: number | null
}

export interface NamedSums extends UsageSums {
  /** Empty where rows have none. */
  readonly name: string
  /** Provider of a model. */
  readonly provider: string
}

export interface UsageBreakdown {
  readonly summary: UsageSums
  /**
   * Sums by the day's date, as the beginning of that day in UTC (epoch milliseconds); days without requests are left
   * out.
   */
  readonly days: ReadonlyMap<number, UsageSums>
  /** The most requests first, at most `mostNames` each. */
  readonly providers: ReadonlyArray<NamedSums>
  readonly models: ReadonlyArray<NamedSums>
  readonly connections: ReadonlyArray<NamedSums>
  readonly apiKeys: ReadonlyArray<NamedSums>
}

export class UsageHistoryRepo extends Context.Tag("gateway/subjects/usageHistory/UsageHistoryRepo")<
  UsageHistoryRepo,
  {
    /** `owner`: of keys that were theirs when requests arrived; null: of all. */
    readonly breakdown: (source: UsageSource, owner?: OwnedBy | null) => Effect.Effect<UsageBreakdown, ReadRefused>
    /** The same, and the sums of each minute since a time, by the minute's beginning. */
    readonly withMinutes: (
      source: UsageSource,
      minutesSinceMs: number
    ) => Effect.Effect<
      { readonly breakdown: UsageBreakdown; readonly minutes: ReadonlyMap<number, UsageSums> },
      ReadRefused
    >
  }
>() {}

/** Providers, models, connections and keys of an answer, each. */
export const mostNames = 500

const names = [...dimensions, ...sumNames, "last_ms"].join(", ")

interface Part {
  readonly sql: string
  readonly parameters: ReadonlyArray<number | string>
}

const ofSums = ({ table }: Grain, day: string, sinceMs: number, untilMs: number): Part => ({
  sql: `SELECT ${day} AS day, ${names} FROM ${table} WHERE start_ms >= ? AND start_ms < ?`,
  parameters: [sinceMs, untilMs]
})

/** Every row since a time, and what was deleted of that time. */
const ofRows = (sinceMs: number): Part => ({
  sql: `${rowsAsSums(minuteMs, "id >= ? AND timestamp_ms >= ?")} UNION ALL SELECT start_ms, ${names} FROM usage_minutes WHERE start_ms >= ?`,
  parameters: [idAt(sinceMs), sinceMs, Math.floor(sinceMs / minuteMs) * minuteMs]
})

const firstOfDay = (text: string): string => `(${text}) / ${dayMs} * ${dayMs}`

/** The date at `start_ms` by the clocks of a zone, as the beginning of that day in UTC. */
const localDay = (offsets: UsageSource["offsets"]): string => {
  const [first, ...later] = offsets
  const cases = later.toReversed().map(({ fromMs, offsetMs }) => `WHEN start_ms >= ${fromMs} THEN ${offsetMs}`)
  const offset = first?.offsetMs ?? 0
  return firstOfDay(
    cases.length === 0 ? `start_ms + ${offset}` : `start_ms + CASE ${cases.join(" ")} ELSE ${offset} END`
  )
}

/** As `ofRows`, of keys that were an owner's. */
const ofOwnRows = (sinceMs: number, owner: OwnedBy): Part => {
  const rows = ownedCondition(owner)
  const deleted = ownedPeriods(owner, minuteMs)
  return {
    sql: `${rowsAsSums(minuteMs, `id >= ? AND timestamp_ms >= ? AND ${rows.sql}`)} UNION ALL
      SELECT start_ms, ${names} FROM usage_minutes WHERE start_ms >= ? AND ${deleted.sql}`,
    parameters: [
      idAt(sinceMs),
      sinceMs,
      ...rows.parameters,
      Math.floor(sinceMs / minuteMs) * minuteMs,
      ...deleted.parameters
    ]
  }
}

const withDay = ({ parameters, sql }: Part, day: string): Part => ({
  sql: `SELECT ${day} AS day, ${names} FROM (${sql}) AS rows`,
  parameters
})

/** As `ofSums`, of keys that were an owner's: of periods in which one moved, the rows. */
const ofOwnSums = (
  grain: Grain,
  day: string,
  range: readonly [number, number],
  owner: OwnedBy
): ReadonlyArray<Part> => {
  const sums = ofSums(grain, day, ...range)
  const whole = ownedPeriods(owner, grain.ms)
  const rows = ownedCondition(owner)
  const moved = rowsAsSums(
    grain.ms,
    `id >= ? AND seq <= ${summedSeq} AND timestamp_ms >= ? AND timestamp_ms < ? AND ${inMovedPeriod(grain.ms)} AND ${rows.sql}`
  )
  const unsummed = rowsAsSums(hourMs, `seq > ${summedSeq} AND timestamp_ms >= ? AND timestamp_ms < ? AND ${rows.sql}`)
  const dayOfRows = grain.table === "usage_days" ? firstOfDay("start_ms") : day
  return [
    { sql: `${sums.sql} AND ${whole.sql}`, parameters: [...sums.parameters, ...whole.parameters] },
    withDay({ sql: moved, parameters: [idAt(range[0]), ...range, ...rows.parameters] }, dayOfRows),
    withDay({ sql: unsummed, parameters: [...range, ...rows.parameters] }, dayOfRows)
  ]
}

/** Adds the date to each. Sums by day have that of UTC. */
const partOf = (source: UsageSource, owner: OwnedBy | null): Part => {
  const day = localDay(source.offsets)
  if (source.by === "rows")
    return withDay(owner === null ? ofRows(source.sinceMs) : ofOwnRows(source.sinceMs, owner), day)
  const { sinceMs, splitMs, untilMs } = source
  const unsummed = rowsAsSums(hourMs, `seq > ${summedSeq} AND timestamp_ms >= ? AND timestamp_ms < ?`)
  const parts =
    owner === null
      ? [
          ofSums(days, "start_ms", sinceMs, splitMs),
          ofSums(hours, day, splitMs, untilMs),
          withDay({ sql: unsummed, parameters: [sinceMs, splitMs] }, firstOfDay("start_ms")),
          withDay({ sql: unsummed, parameters: [splitMs, untilMs] }, day)
        ]
      : [...ofOwnSums(days, "start_ms", [sinceMs, splitMs], owner), ...ofOwnSums(hours, day, [splitMs, untilMs], owner)]
  return {
    sql: parts.map(({ sql }) => sql).join(" UNION ALL "),
    parameters: parts.flatMap(({ parameters }) => parameters)
  }
}

/** Sums by TOTAL, not SUM, which fails when it overflows. */
const totals = [...sumNames.map((name) => `TOTAL(${name}) AS ${name}`), "MAX(last_ms) AS last_ms"].join(", ")

const arm = (kind: string, name: string, provider: string, groups: string, order: string): string =>
  `SELECT * FROM (SELECT '${kind}' AS kind, ${name} AS name, ${provider} AS provider, ${totals} FROM grouped ${groups} ${order}) AS ${kind}_arm`

const mostFirst = `ORDER BY requests DESC LIMIT ${mostNames}`

/** One pass over the source; the groups of it are few. */
const breakdownOf = (source: UsageSource, owner: OwnedBy | null): ReadStatement => {
  const { parameters, sql } = partOf(source, owner)
  const arms = [
    arm("summary", "'0'", "''", "", ""),
    arm("day", "CAST(day AS TEXT)", "''", "GROUP BY day", ""),
    arm("provider", "provider", "''", "GROUP BY provider", mostFirst),
    arm("model", "model", "provider", "GROUP BY provider, model", mostFirst),
    arm("connection", "connection_id", "''", "GROUP BY connection_id", mostFirst),
    arm("apiKey", "api_key_id", "''", "GROUP BY api_key_id", mostFirst)
  ]
  return {
    sql: `WITH part AS (${sql}), grouped AS MATERIALIZED (
      SELECT day, ${dimensions.join(", ")}, ${totals} FROM part GROUP BY 1, 2, 3, 4, 5
    ) ${arms.join(" UNION ALL ")}`,
    parameters
  }
}

const minutesOf = (sinceMs: number): ReadStatement => {
  const { parameters, sql } = ofRows(sinceMs)
  return { sql: `SELECT start_ms, ${totals} FROM (${sql}) AS rows GROUP BY start_ms`, parameters }
}

const numberIn = (row: ReadRow, name: string): number => Number(row[name] ?? 0)

const sumsOf = (row: ReadRow): UsageSums => ({
  requests: numberIn(row, "requests"),
  completed: numberIn(row, "completed"),
  aborted: numberIn(row, "aborted"),
  unpriced: numberIn(row, "unpriced"),
  tokensIn: numberIn(row, "tokens_in"),
  tokensOut: numberIn(row, "tokens_out"),
  tokensCacheRead: numberIn(row, "tokens_cache_read"),
  tokensCacheWrite: numberIn(row, "tokens_cache_write"),
  tokensReasoning: numberIn(row, "tokens_reasoning"),
  costNanoUsd: numberIn(row, "cost_nano_usd") + numberIn(row, "cost_nano_parts") / nanoUsdParts,
  latencyMs: numberIn(row, "latency_ms"),
  ttftMs: numberIn(row, "ttft_ms"),
  ttftCount: numberIn(row, "ttft_count"),
  lastMs: row["last_ms"] === null || row["last_ms"] === undefined ? null : Number(row["last_ms"])
})

export const noSums: UsageSums = sumsOf({})

const breakdownIn = (rows: ReadonlyArray<ReadRow>): UsageBreakdown => {
  const of = (kind: string): ReadonlyArray<NamedSums> =>
    rows
      .filter((row) => row["kind"] === kind)
      .map((row) =>
        Object.assign({ name: String(row["name"] ?? ""), provider: String(row["provider"] ?? "") }, sumsOf(row))
      )
  return {
    summary: of("summary")[0] ?? noSums,
    days: new Map(of("day").map((day) => [Number(day.name), day])),
    providers: of("provider"),
    models: of("model"),
    connections: of("connection"),
    apiKeys: of("apiKey")
  }
}

export const make = Effect.gen(function* () {
  const worker = yield* ReadWorker
  const breakdown = Effect.fn("UsageHistoryRepo.breakdown")((source: UsageSource, owner: OwnedBy | null = null) =>
    Effect.map(worker.read([breakdownOf(source, owner)]), ([rows = []]) => breakdownIn(rows))
  )
  const withMinutes = Effect.fn("UsageHistoryRepo.withMinutes")((source: UsageSource, minutesSinceMs: number) =>
    Effect.map(worker.read([breakdownOf(source, null), minutesOf(minutesSinceMs)]), ([rows = [], minutes = []]) => ({
      breakdown: breakdownIn(rows),
      minutes: new Map(minutes.map((row) => [numberIn(row, "start_ms"), sumsOf(row)]))
    }))
  )
  return UsageHistoryRepo.of({ breakdown, withMinutes })
})

export const layer: Layer.Layer<UsageHistoryRepo, never, ReadWorker> = Layer.effect(UsageHistoryRepo, make)
