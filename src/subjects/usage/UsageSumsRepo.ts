/**
 * Brings rows of the usage log into the sums by hour and day and into the index of its filters, each exactly once, and deletes rows that are in them. Every method does one
 * small step in a transaction of its own, because a statement blocks the process.
 */
import * as SqlClient from "@effect/sql/SqlClient"
import type { Connection } from "@effect/sql/SqlConnection"
import type { SqlError } from "@effect/sql/SqlError"
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { daysKeptMs, hoursKeptMs } from "../usageHistory/entity.ts"
import type { Column } from "../../store/engine/Columns.ts"
import type { StoreError } from "../../store/Errors.ts"
import { withLateSync } from "../../store/engine/LateSync.ts"
import * as Table from "../../store/engine/Table.ts"
import { addFacets, removeFacets } from "../../store/usage/UsageFacetsSql.ts"
import { addSeries, isCrowdedSql, keptMsOf, seriesGrains, seriesSeq } from "../../store/usage/UsageSeriesSql.ts"
import { idAt } from "./repo.ts"
import {
  addRows,
  days,
  dayMs,
  type Grain,
  hourMs,
  hours,
  minutes,
  mostGroups,
  summedSeq
} from "../../store/usage/UsageSumsSql.ts"
import { isPostgres } from "../../store/engine/Engine.ts"

/** Selection of rows that may be deleted; rows that are not in the sums yet stay. */
export type Expired =
  | { readonly _tag: "Before"; readonly beforeMs: number }
  /** The oldest ones beyond a number of rows. */
  | { readonly _tag: "Beyond"; readonly maxRows: number }

export class UsageSumsRepo extends Context.Tag("gateway/subjects/usage/UsageSumsRepo")<
  UsageSumsRepo,
  {
    /** Adds the next rows to the sums, and then to those by kind; returns whether more may wait. */
    readonly sumNext: Effect.Effect<boolean, StoreError>
    /** The same with more rows at once where the database is on a server. */
    readonly sumMore: Effect.Effect<boolean, StoreError>
    /** The number of the newest row; 0 when there is none. */
    readonly newest: Effect.Effect<number, StoreError>
    /** Deletes some rows, none beyond the number `upTo`; returns how many, 0 when none is left that may go. */
    readonly deleteSome: (expired: Expired, upTo: number, nowMs: number) => Effect.Effect<number, StoreError>
    /** Deletes some sums that no answer needs any more; returns how many. */
    readonly deleteOldSums: (nowMs: number) => Effect.Effect<number, StoreError>
  }
>() {}

/** Rows of one step: others wait for it. */
export const sumStep = 200
export const seriesStep = 100
export const deleteStep = 200
/** Over Postgres a step has round trips, and keeps no event loop: of small ones the sums would fall behind at some 12,000 requests a second. */
const stepsOnServer = { sums: 2_000, series: 1_000, deleted: 2_000 }

const usualSteps: typeof stepsOnServer = { sums: sumStep, series: seriesStep, deleted: deleteStep }

/** The longest window of a limit, and an hour for a change of the clocks. */
const longestWindowMs = 31 * dayMs + hourMs
/** Time in ms kept by the minute, for the sums of the last hour. */
const recentMs = 2 * hourMs

/** Condition of keys that have limits: the others need only the hours of deleted rows. */
const hasLimits = `api_key_id IN (SELECT api_key_id FROM budgets UNION SELECT api_key_id FROM token_limits)`

const nextRows = `seq > ${summedSeq} AND seq <= ?`
const listedRows = "seq IN (SELECT CAST(value AS BIGINT) FROM json_each(?))"

const sumNextInto = (grain: Grain) => ({
  usual: addRows(grain, nextRows),
  crowded: addRows(grain, nextRows, true),
  isCrowded: `SELECT COUNT(*) > ${mostGroups} AS crowded FROM (SELECT 1 FROM ${grain.table} WHERE start_ms >=
    (SELECT MAX(timestamp_ms) / ${grain.ms} * ${grain.ms} FROM usage_log WHERE ${nextRows}) LIMIT ${mostGroups + 1}) AS groups`
})
const sumsOf = [sumNextInto(hours), sumNextInto(days)]

const facetsOfNext = addFacets(nextRows)
/** The combinations without rows are found by the rows, so that these leave the log last. */
const facetsGone = removeFacets(listedRows)

/** `step`: most rows that are summed at once. */
const nextSeq = (step: number): string =>
  `SELECT MAX(seq) AS seq FROM (SELECT seq FROM usage_log WHERE seq > ${summedSeq} ORDER BY seq LIMIT ${step}) AS next`

const nextOfSeries = `seq > ${seriesSeq} AND seq <= ?`
const nextSeriesSeq = (step: number): string =>
  `SELECT MAX(seq) AS seq FROM (SELECT seq FROM usage_log WHERE seq > ${seriesSeq} ORDER BY seq LIMIT ${step}) AS next`
const seriesOf = { usual: addSeries(nextOfSeries, false), crowded: addSeries(nextOfSeries, true) }
const seriesIsCrowded = isCrowdedSql(nextOfSeries)

const keepMinutes = addRows(
  minutes,
  `${listedRows} AND timestamp_ms >= ? AND (timestamp_ms >= ? OR (log.api_key_id IS NOT NULL AND log.${hasLimits}))`
)

/**
 * One gateway at a time sums or deletes: of two, one would take away the combination of a filter that the other has just found to be there. It is the first
 * statement, since a transaction sees what was there when its first query began. No request writes this table.
 */
const oneAtATime = "LOCK TABLE usage_summed IN EXCLUSIVE MODE"
/**
 * Other nodes insert rows meanwhile, and one that has the lower number may be committed later: what is summed up to a number waits until those that
 * are on their way are there.
 */
const withoutInserts = "LOCK TABLE usage_log IN SHARE ROW EXCLUSIVE MODE"

/** Locks of Postgres. Rows that are deleted are in the sums, so that others may come meanwhile. */
const locks = { sum: [oneAtATime, withoutInserts], delete: [oneAtATime] }

const transactions =
  (sql: SqlClient.SqlClient, work: keyof typeof locks) =>
  <A>(
    operation: string,
    use: (
      run: <Row>(statement: string, ...parameters: ReadonlyArray<Column>) => Effect.Effect<ReadonlyArray<Row>, SqlError>
    ) => Effect.Effect<A, SqlError>
  ): Effect.Effect<A, StoreError> =>
    withLateSync(sql, (connection: Connection) => {
      const run = <Row>(statement: string, ...parameters: ReadonlyArray<Column>) =>
        connection.execute(statement, parameters, undefined) as Effect.Effect<ReadonlyArray<Row>, SqlError>
      const begin = ["BEGIN IMMEDIATE", ...(isPostgres(sql) ? locks[work] : [])]
      return Effect.forEach(begin, (statement) => run(statement), { discard: true }).pipe(
        Effect.zipRight(
          Effect.tapErrorCause(Effect.zipLeft(use(run), run("COMMIT")), () => Effect.ignore(run("ROLLBACK")))
        )
      )
    }).pipe(Effect.uninterruptible, Effect.mapError(Table.named(operation)))

const sumSeriesIn = (inTransaction: ReturnType<typeof transactions>, step: number) =>
  Effect.flatMap(Clock.currentTimeMillis, (nowMs) =>
    inTransaction("UsageSumsRepo.sumSeries", (run) =>
      Effect.gen(function* () {
        const [found] = yield* run<{ readonly seq: number | null }>(nextSeriesSeq(step))
        const last = found?.seq ?? null
        if (last === null) return false
        const [day] = yield* run<{ readonly crowded: number }>(seriesIsCrowded, last)
        const { kinds, sums } = day?.crowded === 1 ? seriesOf.crowded : seriesOf.usual
        yield* run(kinds, last)
        const now = Math.trunc(nowMs)
        yield* run(sums, now, last, ...seriesGrains.map(() => now))
        yield* run("UPDATE usage_series_summed SET seq = ?", last)
        return true
      })
    )
  )

const key = "start_ms, api_key_id, provider, connection_id, model"
const seriesKey = "cube, step_ms, start_ms, kind_id"
const oldSums = (nowMs: number): ReadonlyArray<readonly [table: string, key: string, where: string]> => [
  ["usage_hours", key, `start_ms < ${nowMs - hoursKeptMs}`],
  ["usage_days", key, `start_ms < ${nowMs - daysKeptMs}`],
  ["usage_minutes", key, `start_ms < ${nowMs - longestWindowMs}`],
  ["usage_minutes", key, `start_ms < ${nowMs - recentMs} AND NOT ${hasLimits}`],
  ...seriesGrains.flatMap(({ keptMs, ms }) =>
    [0, 1].map(
      (cube) =>
        [
          "usage_series",
          seriesKey,
          `cube = ${cube} AND step_ms = ${ms} AND start_ms < ${Math.floor((nowMs - keptMs) / ms) * ms}`
        ] as const
    )
  ),
  ["usage_names", "kind, id", `removed_at_ms < ${nowMs - daysKeptMs}`],
  ["usage_kinds", "id", `last_ms < ${nowMs - keptMsOf(dayMs) - dayMs}`]
]

export const make = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient

  const inTransaction = transactions(sql, "sum")

  const sumRows = (step: number) =>
    inTransaction("UsageSumsRepo.sumNext", (run) =>
      Effect.gen(function* () {
        const [found] = yield* run<{ readonly seq: number | null }>(nextSeq(step))
        const last = found?.seq ?? null
        if (last === null) return false
        for (const { crowded, isCrowded, usual } of sumsOf) {
          const [period] = yield* run<{ readonly crowded: number }>(isCrowded, last)
          yield* run(period?.crowded === 1 ? crowded : usual, last)
        }
        for (const statement of facetsOfNext) yield* run(statement, last)
        yield* run("UPDATE usage_summed SET seq = ?", last)
        return true
      })
    )

  /** The sums by kind come after: limits of keys wait for the others. */
  const summing = ({ series, sums }: typeof stepsOnServer) => {
    const sumSeries = sumSeriesIn(inTransaction, series)
    return Effect.flatMap(sumRows(sums), (some) => (some ? Effect.succeed(true) : sumSeries))
  }

  const newest = sql<{ readonly seq: number | null }>`SELECT MAX(seq) AS seq FROM usage_log`.pipe(
    Effect.mapBoth({ onFailure: Table.named("UsageSumsRepo.newest"), onSuccess: ([row]) => row?.seq ?? 0 })
  )

  const { deleted } = isPostgres(sql) ? stepsOnServer : usualSteps
  const expiredRows = (
    expired: Expired,
    upTo: number
  ): readonly [statement: string, ...parameters: ReadonlyArray<Column>] =>
    expired._tag === "Before"
      ? [
          `SELECT seq FROM usage_log WHERE id < ? AND timestamp_ms < ? AND seq <= MIN(?, ${summedSeq}, ${seriesSeq}) ORDER BY id LIMIT ${deleted}`,
          // An id has the time of its row or, after the clock was set back, a later one.
          idAt(expired.beforeMs + hourMs),
          expired.beforeMs,
          upTo
        ]
      : [
          `SELECT seq FROM usage_log WHERE seq <= MIN(?, ${summedSeq}, ${seriesSeq}, (SELECT MAX(seq) FROM usage_log) - ?) ORDER BY seq LIMIT ${deleted}`,
          upTo,
          expired.maxRows
        ]

  const deleteSome = Effect.fn("UsageSumsRepo.deleteSome")((expired: Expired, upTo: number, nowMs: number) =>
    transactions(sql, "delete")("UsageSumsRepo.deleteSome", (run) =>
      Effect.gen(function* () {
        const found = yield* run<{ readonly seq: number }>(...expiredRows(expired, upTo))
        if (found.length === 0) return 0
        const listed = JSON.stringify(found.map(({ seq }) => seq))
        yield* run(keepMinutes, listed, nowMs - longestWindowMs, nowMs - recentMs)
        yield* run(
          `DELETE FROM ledger_entries WHERE request_id IN (SELECT id FROM usage_log WHERE ${listedRows})`,
          listed
        )
        for (const statement of facetsGone) yield* run(statement, listed)
        yield* run(`DELETE FROM usage_log WHERE ${listedRows}`, listed)
        return found.length
      })
    )
  )

  const deleteOldSums = Effect.fn("UsageSumsRepo.deleteOldSums")((nowMs: number) =>
    inTransaction("UsageSumsRepo.deleteOldSums", (run) =>
      Effect.reduce(oldSums(Math.trunc(nowMs)), 0, (count, [table, columns, where]) =>
        Effect.map(
          run(
            `DELETE FROM ${table} WHERE (${columns}) IN (SELECT ${columns} FROM ${table} WHERE ${where} LIMIT ${deleteStep}) RETURNING 1`
          ),
          (gone) => count + gone.length
        )
      )
    )
  )

  return UsageSumsRepo.of({
    sumNext: summing(usualSteps),
    sumMore: summing(isPostgres(sql) ? stepsOnServer : usualSteps),
    newest,
    deleteSome,
    deleteOldSums
  })
})

export const layer: Layer.Layer<UsageSumsRepo, never, SqlClient.SqlClient> = Layer.effect(UsageSumsRepo, make)
