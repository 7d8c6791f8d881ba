/** Periods of reports, and their figures. Pure. */
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import { instantOf, localTimeAt } from "../../kernel/time/TimeZones.ts"
import {
  type BillReport,
  type ReportPeriod,
  reportPeriods,
  type ReportSums,
  type Span,
  type Spender,
  type SpendReport
} from "./entity.ts"
import { billed, grouped, type Sums, totalOf } from "./rules.ts"

/** A period of the clocks of a zone: a change of summer time makes it an hour longer or shorter. */
export interface ZonedPeriod {
  readonly period: ReportPeriod
  readonly timeZone: string
}

/** Beginning of the week or month of an instant, moved by a number of them. */
const beginOf = ({ period, timeZone }: ZonedPeriod, atMs: number, moved: number): number => {
  const { day, month, weekday, year } = localTimeAt(timeZone, atMs)
  const midnight = { hour: 0, minute: 0 }
  if (period === "weekly") return instantOf(timeZone, { year, month, day: day - weekday + 7 * moved, ...midnight })
  const first = new Date(Date.UTC(year, month - 1 + moved, 1))
  return instantOf(timeZone, { year: first.getUTCFullYear(), month: first.getUTCMonth() + 1, day: 1, ...midnight })
}

/** The last week, from Monday, or month that is over at a time. */
export const lastPeriod = (zoned: ZonedPeriod, atMs: number): Span => ({
  fromMs: beginOf(zoned, atMs, -1),
  untilMs: beginOf(zoned, atMs, 0)
})

const two = (value: number): string => String(value).padStart(2, "0")

export const firstDayOf = (timeZone: string, { fromMs }: Span): string => {
  const { day, month, year } = localTimeAt(timeZone, fromMs)
  return `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`
}

/** Reports of UTC have the ids that they always had. */
export const idOfPeriod = ({ period, timeZone }: ZonedPeriod, span: Span): string =>
  [period, firstDayOf(timeZone, span), ...(timeZone === "UTC" ? [] : [timeZone])].join("/")

/** Time until the next week or month begins. */
export const untilNextMs = (timeZone: string, nowMs: number): number =>
  Math.min(...reportPeriods.map((period) => beginOf({ period, timeZone }, nowMs, 1))) - nowMs

/** Spenders of a kind in a report. */
export const mostSpenders = 5

/** Lines of a span with the names and rates of now. */
export type Spent = Pick<BillReport, "lines" | "names" | "rates">

const sumsOf = ({ billedNanoUsd, costNanoUsd, requests, tokensIn, tokensOut, unpriced }: Sums): ReportSums => ({
  requests,
  unpriced,
  tokensIn,
  tokensOut,
  costUsd: costNanoUsd / nanoUsdPerUsd,
  billedUsd: billedNanoUsd / nanoUsdPerUsd
})

export const reportOf = (zoned: ZonedPeriod, span: Span, spent: Spent, before: Spent): SpendReport => {
  const { names, rates } = spent
  const lines = billed(spent.lines, rates)
  const top = (by: "person" | "team" | "key" | "model"): ReadonlyArray<Spender> =>
    grouped(lines, [by])
      .slice(0, mostSpenders)
      .map((line) => {
        const id = line[by] === "" ? null : line[by]
        const name = id === null || by === "model" ? id : (names[by][id] ?? null)
        return Object.assign({ id, name }, sumsOf(line))
      })
  return {
    ...zoned,
    firstDay: firstDayOf(zoned.timeZone, span),
    ...span,
    total: sumsOf(totalOf(lines)),
    previousCostUsd: totalOf(billed(before.lines, before.rates)).costNanoUsd / nanoUsdPerUsd,
    top: { person: top("person"), team: top("team"), key: top("key"), model: top("model") }
  }
}
