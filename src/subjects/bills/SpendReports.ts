/** Periods of reports, and their figures. Pure. */
import { nanoUsdPerUsd } from "../../contract/domain/Usage.ts"
import type { BillReport, ReportPeriod, ReportSums, Span, Spender, SpendReport } from "./entity.ts"
import { billed, grouped, spanOfMonth, type Sums, totalOf } from "./rules.ts"

const dayMs = 86_400_000
const weekMs = 7 * dayMs
/** The first of January 1970 was a Thursday. */
const mondayMs = 4 * dayMs

const weekBefore = (atMs: number): Span => {
  const untilMs = Math.floor((atMs - mondayMs) / weekMs) * weekMs + mondayMs
  return { fromMs: untilMs - weekMs, untilMs }
}

const monthBefore = (atMs: number): Span => {
  const at = new Date(atMs)
  const first = new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() - 1, 1))
  return spanOfMonth(first.toISOString().slice(0, 7), "UTC")
}

/** The last week, from Monday, or month that is over at a time, by UTC. */
export const lastPeriod = (period: ReportPeriod, atMs: number): Span =>
  period === "weekly" ? weekBefore(atMs) : monthBefore(atMs)

export const idOfPeriod = (period: ReportPeriod, { fromMs }: Span): string =>
  `${period}/${new Date(fromMs).toISOString().slice(0, 10)}`

/** Time until the next week or month begins. */
export const untilNextMs = (nowMs: number): number => {
  const at = new Date(nowMs)
  const monthMs = Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)
  return Math.min(monthMs, weekBefore(nowMs).untilMs + weekMs) - nowMs
}

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

export const reportOf = (period: ReportPeriod, span: Span, spent: Spent, before: Spent): SpendReport => {
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
    period,
    ...span,
    total: sumsOf(totalOf(lines)),
    previousCostUsd: totalOf(billed(before.lines, before.rates)).costNanoUsd / nanoUsdPerUsd,
    top: { person: top("person"), team: top("team"), key: top("key"), model: top("model") }
  }
}
