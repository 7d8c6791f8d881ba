/**
 * The SQL of the sums by kind of request (`usage_series`, `usage_kinds`): by minute, quarter of an hour, hour and day, with the requests by their
 * latency. Rows of the log whose number is at most `usage_series_summed.seq` are in them. Cube 0 tells keys and connections apart, cube 1 does
 * not and is small.
 */
import { type TimeSteps, stepMs } from "../../kernel/time/TimeSteps.ts"
import type { Condition } from "./UsageFacetsSql.ts"
import { dayMs, hourMs, largest, minuteMs, mostGroups, otherModel } from "./UsageSumsSql.ts"

export const quarterMs = 900_000

/** Length of the periods of the sums in ms, and the time for which they are kept. Of days, hours and minutes at most 500 are asked for at once. */
export const seriesGrains = [
  { ms: minuteMs, keptMs: 2 * dayMs },
  { ms: quarterMs, keptMs: 40 * dayMs },
  { ms: hourMs, keptMs: 520 * dayMs },
  { ms: dayMs, keptMs: 800 * dayMs }
] as const

export const keptMsOf = (grainMs: number): number => seriesGrains.find(({ ms }) => ms === grainMs)?.keptMs ?? 0

/** The number up to which rows are in the sums by kind. */
export const seriesSeq = "(SELECT seq FROM usage_series_summed)"

/** Requests are counted by latency: below 20 ms, then each time up to one and a half times as much; the last one has no end. */
export const latencyBounds: ReadonlyArray<number> = Array.from({ length: 23 }, (_, n) => Math.round(20 * 1.5 ** n))
const latencyNames = Array.from({ length: latencyBounds.length + 1 }, (_, n) => `latency_${n}`)
const latencyPlace = `CASE ${latencyBounds.map((bound, n) => `WHEN latency_ms < ${bound} THEN ${n}`).join(" ")} ELSE ${latencyBounds.length} END`

const kindDimensions = ["api_key_id", "provider", "connection_id", "model", "combo", "outcome"] as const
const kindColumns = ["cube", ...kindDimensions, "status"].join(", ")
const sumColumns = [
  "requests",
  "tokens_in",
  "tokens_out",
  "tokens_cache_read",
  "cost_nano_usd",
  "cost_nano_parts"
] as const

const ofLog = (name: string): string => `COALESCE(log.${name}, '')`
const inWideCube = (name: string): string => `CASE cube.id WHEN 0 THEN ${ofLog(name)} ELSE '' END`

/** Dimensions of a row of the log in a cube. `crowded`: models that no kind has yet are taken together. */
const valuesOf = (crowded: boolean): Readonly<Record<(typeof kindDimensions)[number] | "status", string>> => {
  const usual = {
    api_key_id: inWideCube("api_key_id"),
    provider: ofLog("provider"),
    connection_id: inWideCube("connection_id"),
    model: ofLog("model"),
    combo: ofLog("combo"),
    outcome: "log.outcome",
    status: "log.status"
  }
  if (!crowded) return usual
  const same = Object.entries(usual).map(([name, value]) => `known.${name} = ${value}`)
  const isKnown = `EXISTS (SELECT 1 FROM usage_kinds AS known WHERE known.cube = cube.id AND ${same.join(" AND ")})`
  return { ...usual, model: `CASE WHEN ${isKnown} THEN ${usual.model} ELSE '${otherModel}' END` }
}

const cubes = "(SELECT 0 AS id UNION ALL SELECT 1) AS cube"
const grains = seriesGrains
  .map(
    ({ keptMs, ms }, n) =>
      `SELECT ${ms}${n === 0 ? " AS ms" : ""}, CAST(? AS BIGINT) - ${keptMs}${n === 0 ? " AS since" : ""}`
  )
  .join(" UNION ALL ")

/** Beginning of the shortest period that a row is kept in. */
const shortestStart = `CASE WHEN timestamp_ms >= CAST(? AS BIGINT) - ${keptMsOf(minuteMs)} THEN timestamp_ms / ${minuteMs} * ${minuteMs}
  ELSE timestamp_ms / ${quarterMs} * ${quarterMs} END`

export interface SeriesStep {
  /** Has the parameters of `where`. */
  readonly kinds: string
  /** Has the present time, the parameters of `where`, and then the present time once for each grain. */
  readonly sums: string
}

/** The statements that bring rows of the log into the sums, in their order. */
export const addSeries = (where: string, crowded: boolean): SeriesStep => {
  const values = valuesOf(crowded)
  const selected = Object.values(values).join(", ")
  const named = Object.entries(values)
    .map(([name, value]) => `${value} AS of_${name}`)
    .join(", ")
  const isKind = Object.keys(values)
    .map((name) => `kind.${name} = valued.of_${name}`)
    .join(" AND ")
  const all = [...sumColumns, ...latencyNames]
  const capped = (name: string): string => `${name} = MIN(${largest}, usage_series.${name} + excluded.${name})`
  return {
    kinds: `INSERT INTO usage_kinds (${kindColumns}, last_ms)
      SELECT cube.id, ${selected}, MAX(timestamp_ms) FROM usage_log AS log CROSS JOIN ${cubes} WHERE ${where} GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
      ON CONFLICT (${kindColumns}) DO UPDATE SET last_ms = MAX(usage_kinds.last_ms, excluded.last_ms)`,
    sums: `WITH valued AS MATERIALIZED (
        SELECT cube.id AS of_cube, ${named}, ${shortestStart} AS minute_ms, tokens_in, tokens_out,
          tokens_cache_read, cost_nano_usd, cost_nano_parts, latency_ms, ${latencyPlace} AS place
        FROM usage_log AS log CROSS JOIN ${cubes} WHERE ${where}
      ), each_row AS (
        SELECT kind.id AS kind_id, kind.cube AS cube, minute_ms, tokens_in, tokens_out, tokens_cache_read, cost_nano_usd, cost_nano_parts,
          latency_ms, place FROM valued CROSS JOIN usage_kinds AS kind WHERE kind.cube = valued.of_cube AND ${isKind}
      ), by_minute AS MATERIALIZED (
        SELECT kind_id, cube, minute_ms, COUNT(*) AS requests,
          ${sumColumns
            .slice(1)
            .map((name) => `SUM(${name}) AS ${name}`)
            .join(", ")},
          MIN(latency_ms) AS least_ms, MAX(latency_ms) AS most_ms, ${latencyNames.map((name, n) => `COUNT(*) FILTER (WHERE place = ${n}) AS ${name}`).join(", ")}
        FROM each_row GROUP BY 1, 2, 3
      )
      INSERT INTO usage_series (cube, step_ms, start_ms, kind_id, ${all.join(", ")}, least_ms, most_ms)
      SELECT cube, grain.ms, minute_ms / grain.ms * grain.ms, kind_id, ${all.map((name) => `MIN(${largest}, SUM(${name}))`).join(", ")},
        MIN(least_ms), MAX(most_ms)
      FROM by_minute CROSS JOIN (${grains}) AS grain WHERE minute_ms >= grain.since GROUP BY 1, 2, 3, 4
      ON CONFLICT (cube, step_ms, start_ms, kind_id) DO UPDATE SET ${all.map(capped).join(", ")},
        least_ms = MIN(usage_series.least_ms, excluded.least_ms), most_ms = MAX(usage_series.most_ms, excluded.most_ms)`
  }
}

/** Tells whether the day of some rows has so many kinds that further models are taken together. Has the parameters of `where`. */
export const isCrowdedSql = (where: string): string =>
  `SELECT COUNT(*) > ${mostGroups} AS crowded FROM (SELECT 1 FROM usage_kinds WHERE cube = 0 AND last_ms >=
    (SELECT MAX(timestamp_ms) / ${dayMs} * ${dayMs} FROM usage_log WHERE ${where}) LIMIT ${mostGroups + 1}) AS kinds`

/** Dimension that series are split by. */
export type SeriesBy = "provider" | "model" | "connection" | "apiKey" | "combo" | "outcome"

const keyColumns: Readonly<Record<Exclude<SeriesBy, "model">, string>> = {
  provider: "provider",
  connection: "connection_id",
  apiKey: "api_key_id",
  combo: "combo",
  outcome: "outcome"
}

/** The key of a row: the empty text where it has none. A model has its provider before it. Several are a list, as JSON. */
const keyOf = (by: SeriesSelection["by"], table: string): string => {
  if (by === null) return "''"
  if (typeof by !== "string") return `json_array(${by.map((each) => keyOf(each, table)).join(", ")})`
  const value = (name: string): string => `COALESCE(${table}.${name}, '')`
  if (by !== "model") return value(keyColumns[by])
  return `CASE WHEN ${value("model")} = '' THEN '' ELSE ${value("provider")} || '/' || ${table}.model END`
}

/**
 * Writes an expression for the beginning of the unit that a time is in, by the clocks of a zone. It is in the step of that time, though it
 * may be later than the step's beginning where the clocks were changed within.
 */
export const unitStart = (column: string, { offsets }: Pick<TimeSteps, "offsets">, unitMs: number): string => {
  // Integers are divided towards zero; so many whole units ahead no local time is below it.
  const aheadMs = 2 * stepMs.day
  const floor = (offsetMs: number): string =>
    `(${column} + ${offsetMs + aheadMs}) / ${unitMs} * ${unitMs} - ${offsetMs + aheadMs}`
  const [first, ...later] = offsets
  const usual = floor(first?.offsetMs ?? 0)
  if (later.length === 0) return usual
  const cases = later
    .toReversed()
    .map(({ fromMs, offsetMs }) => `WHEN ${column} >= ${fromMs} THEN MAX(${fromMs}, ${floor(offsetMs)})`)
  return `CASE ${cases.join(" ")} ELSE ${usual} END`
}

/** Part of a range that the sums of one grain are read of. */
export interface SeriesPart {
  readonly grainMs: number
  readonly sinceMs: number
  readonly untilMs: number
  /** Beginnings of the only periods that are read. */
  readonly only?: ReadonlyArray<number>
  /** Beginnings of periods that are not. */
  readonly without?: ReadonlyArray<number>
}

export interface SeriesSelection {
  readonly steps: TimeSteps
  readonly unitMs: number
  readonly by: SeriesBy | ReadonlyArray<SeriesBy> | null
  readonly top: number
  readonly source:
    | {
        readonly basis: "sums"
        /** Parts of the range, each by the sums of one grain. */
        readonly parts: ReadonlyArray<SeriesPart>
        /** True where keys and connections have to be told apart. */
        readonly isWide: boolean
      }
    | { readonly basis: "log"; readonly leastId: string; readonly beforeId: string }
  /** Conditions on columns that kinds and rows of the log have. */
  readonly conditions: ReadonlyArray<Condition>
}

const measures = [...sumColumns, "failed"] as const
const shown = ["requests", "failed", "tokens_in", "tokens_out", "tokens_cache_read", "cost_nano_usd", "cost_nano_parts"]

const joined = (conditions: ReadonlyArray<Condition>): Condition => ({
  sql: conditions.map(({ sql }) => ` AND ${sql}`).join(""),
  parameters: conditions.flatMap(({ parameters }) => parameters)
})

const listed = (test: "IN" | "NOT IN", values: ReadonlyArray<number> | undefined): ReadonlyArray<Condition> =>
  values === undefined
    ? []
    : [
        {
          sql: `series.start_ms ${test} (SELECT CAST(value AS BIGINT) FROM json_each(?))`,
          parameters: [JSON.stringify(values)]
        }
      ]

const fromSums = (wanted: SeriesSelection, { grainMs, only, sinceMs, untilMs, without }: SeriesPart): Condition => {
  const { by, conditions, source, steps, unitMs } = wanted
  const tests = joined([...listed("IN", only), ...listed("NOT IN", without), ...conditions])
  const cube = source.basis === "sums" && source.isWide ? 0 : 1
  return {
    sql: `SELECT ${keyOf(by, "kind")} AS key, ${unitStart("series.start_ms", steps, unitMs)} AS at,
        ${sumColumns.map((name) => `series.${name}`).join(", ")}, CASE kind.outcome WHEN 'failed' THEN series.requests ELSE 0 END AS failed,
        least_ms, most_ms, ${latencyNames.join(", ")}
      FROM usage_series AS series CROSS JOIN usage_kinds AS kind
      WHERE kind.id = series.kind_id AND series.cube = ${cube} AND series.step_ms = ${grainMs} AND series.start_ms >= ? AND series.start_ms < ?${tests.sql}`,
    parameters: [sinceMs, untilMs, ...tests.parameters]
  }
}

const fromRows = (wanted: SeriesSelection, range: Condition): Condition => {
  const { by, conditions, steps, unitMs } = wanted
  const tests = joined(conditions)
  return {
    sql: `SELECT key, at, requests, tokens_in, tokens_out, tokens_cache_read, cost_nano_usd, cost_nano_parts, failed,
        latency_ms AS least_ms, latency_ms AS most_ms, ${latencyNames.map((name, n) => `CASE WHEN place = ${n} THEN 1 ELSE 0 END AS ${name}`).join(", ")}
      FROM (SELECT ${keyOf(by, "log")} AS key, ${unitStart("timestamp_ms", steps, unitMs)} AS at, 1 AS requests, tokens_in, tokens_out,
          tokens_cache_read, cost_nano_usd, cost_nano_parts, CASE WHEN outcome = 'failed' THEN 1 ELSE 0 END AS failed, latency_ms, ${latencyPlace} AS place
        FROM usage_log AS log WHERE ${range.sql}${tests.sql}) AS found`,
    parameters: [...range.parameters, ...tests.parameters]
  }
}

const partsOf = (wanted: SeriesSelection): ReadonlyArray<Condition> => {
  const { source, steps } = wanted
  const [firstMs = 0] = steps.starts
  const isInRange = "timestamp_ms >= ? AND timestamp_ms < ?"
  if (source.basis === "log") {
    const { beforeId, leastId } = source
    return [
      fromRows(wanted, {
        sql: `log.id >= ? AND log.id < ? AND ${isInRange}`,
        parameters: [leastId, beforeId, firstMs, steps.endMs]
      })
    ]
  }
  return [
    ...source.parts.map((part) => fromSums(wanted, part)),
    fromRows(wanted, { sql: `seq > ${seriesSeq} AND ${isInRange}`, parameters: [firstMs, steps.endMs] })
  ]
}

/** TOTAL, not SUM, which fails when it overflows. */
const total = (names: ReadonlyArray<string>): string => names.map((name) => `TOTAL(${name}) AS ${name}`).join(", ")
const extremes = "MIN(least_ms) AS least_ms, MAX(most_ms) AS most_ms"

/**
 * A row for each of the keys with the most requests, and one for all others (`is_rest`): `points` is JSON, a list of
 * `[at, requests, failed, tokensIn, tokensOut, cacheRead, nanoUsd, parts, leastMs, mostMs, latencies…]`.
 */
export const seriesPoints = (wanted: SeriesSelection): Condition => {
  const parts = partsOf(wanted)
  const names = [...measures, ...latencyNames]
  const point = ["at", ...shown, "least_ms", "most_ms", ...latencyNames].join(", ")
  const columns = ["at", ...names, "least_ms", "most_ms"].join(", ")
  return {
    sql: `WITH part AS (${parts.map(({ sql }) => sql).join(" UNION ALL ")}),
      grouped AS MATERIALIZED (SELECT key, at, ${total(names)}, ${extremes} FROM part GROUP BY 1, 2),
      top AS MATERIALIZED (SELECT key FROM grouped GROUP BY key ORDER BY TOTAL(requests) DESC, key LIMIT ?),
      shown AS (
        SELECT 0 AS is_rest, key, ${columns} FROM grouped WHERE key IN (SELECT key FROM top)
        UNION ALL
        SELECT 1, '', at, ${total(names)}, ${extremes} FROM grouped WHERE key NOT IN (SELECT key FROM top) GROUP BY at
      )
      SELECT is_rest, key, TOTAL(requests) AS requests, json_group_array(json_array(${point})) AS points FROM shown GROUP BY 1, 2`,
    parameters: [...parts.flatMap(({ parameters }) => parameters), wanted.top]
  }
}

/** A row for each key, the dearest first and as many as `top` says, and one for all of them (`is_all`). */
export const seriesTotals = (wanted: SeriesSelection): Condition => {
  const parts = partsOf(wanted)
  return {
    sql: `WITH part AS (${parts.map(({ sql }) => sql).join(" UNION ALL ")}),
      grouped AS MATERIALIZED (SELECT key, ${total(measures)} FROM part GROUP BY 1),
      top AS (SELECT 0 AS is_all, key, ${shown.join(", ")} FROM grouped ORDER BY cost_nano_usd DESC, requests DESC, key LIMIT ?)
      SELECT * FROM top UNION ALL SELECT 1, '', ${total(shown)} FROM grouped`,
    parameters: [...parts.flatMap(({ parameters }) => parameters), wanted.top]
  }
}

/** Finds how far the sums by kind are behind the log. */
export const seriesPosition = `SELECT ${seriesSeq} AS summed, (SELECT MAX(seq) FROM usage_log) AS newest`

/** The same of the rows of one key, with the key as the last parameter. */
export const lastOfKey = (most: number): string =>
  `SELECT id, timestamp_ms FROM usage_log WHERE id >= ? AND id < ? AND api_key_id = ? ORDER BY timestamp_ms DESC LIMIT 1 OFFSET ${most - 1}`

/** The id of the last row that a look at the log may get to, from the newest of a range on. Has the parameters `leastId`, `beforeId`. */
export const lastLookedAt = (most: number): string =>
  `SELECT id, timestamp_ms FROM usage_log WHERE id >= ? AND id < ? ORDER BY id DESC LIMIT 1 OFFSET ${most - 1}`
