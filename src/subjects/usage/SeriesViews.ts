/** Series of usage as the contract asks for them and shows them. */
import { isDay } from "../../kernel/time/IsoInstant.ts"
import { instantOf } from "../../kernel/time/TimeZones.ts"
import { dayMs } from "../../store/usage/UsageSumsSql.ts"
import type { BreakdownQuery, UsageBreakdownView } from "../usageHistory/routes.ts"
import type { SeriesQuery as Asked, UsageSeriesView } from "./routes.ts"
import type { SeriesQuery, SplitQuery } from "./SeriesPlan.ts"
import { filterOf } from "./UsageFilters.ts"
import type { SeriesReport, SplitReport } from "./UsageSeries.ts"

/** A day begins by the clocks of the zone. */
export const timeIn = (text: string, timeZone: string): number => {
  if (!isDay(text)) return Date.parse(text)
  const [year = 0, month = 0, day = 0] = text.split("-").map(Number)
  return instantOf(timeZone, { year, month, day, hour: 0, minute: 0 })
}

const usualTop = 10

export const seriesQuery = (asked: Asked, nowMs: number): SeriesQuery => {
  const { by = null, from, step = "auto", to, top = usualTop, tz = "UTC", ...filters } = asked
  const toMs = to === undefined ? nowMs : timeIn(to, tz)
  const fromMs = from === undefined ? toMs - dayMs : timeIn(from, tz)
  return { fromMs, toMs, step, timeZone: tz, by, top, filter: filterOf(filters) }
}

const iso = (ms: number): string => new Date(ms).toISOString()

export const seriesView = ({ timeZone }: SeriesQuery, report: SeriesReport): UsageSeriesView => {
  const { basis, by, inexact, rest, scannedToMs, series, step, steps, total } = report
  return {
    step,
    tz: timeZone,
    by,
    starts: steps.starts.map(iso),
    end: iso(steps.endMs),
    series: series.map(({ key, name, sums }) => Object.assign({ key, name }, sums)),
    rest,
    total,
    basis,
    scannedTo: scannedToMs === null ? null : iso(scannedToMs),
    inexact
  }
}

const usualRows = 100

export const breakdownQuery = (asked: BreakdownQuery, nowMs: number): SplitQuery => {
  const { and, by, from, to, top = usualRows, tz = "UTC", ...filters } = asked
  const toMs = to === undefined ? nowMs : timeIn(to, tz)
  const fromMs = from === undefined ? toMs - dayMs : timeIn(from, tz)
  const dimensions = and === undefined ? [by] : [by, and]
  return { fromMs, toMs, step: "day", timeZone: tz, by: dimensions, top, filter: filterOf(filters) }
}

const orNull = (key: string | undefined): string | null => (key === undefined || key === "" ? null : key)

export const breakdownView = (
  { and, by, tz = "UTC" }: BreakdownQuery,
  { basis, fromMs, inexact, nameOf, rest, rows, scannedToMs, toMs, total }: SplitReport
): UsageBreakdownView => {
  const named = (keys: ReadonlyArray<string>, place: number): string | null => {
    const key = orNull(keys[place])
    return key === null ? null : (nameOf[place]?.(key) ?? null)
  }
  return {
    by,
    and: and ?? null,
    from: iso(fromMs),
    to: iso(toMs),
    tz,
    rows: rows.map(({ keys, sums }) => ({
      key: orNull(keys[0]),
      name: named(keys, 0),
      andKey: orNull(keys[1]),
      andName: named(keys, 1),
      ...sums
    })),
    rest,
    total,
    basis,
    scannedTo: scannedToMs === null ? null : iso(scannedToMs),
    inexact
  }
}
