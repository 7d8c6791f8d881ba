/** Months of the reader's calendar, what they have cost so far and what they will. Pure. */

export interface Month {
  /** From 1. */
  readonly month: number
  readonly year: number
}

const two = (value: number): string => String(value).padStart(2, "0")

export const textOfMonth = ({ month, year }: Month): string => `${year}-${two(month)}`

/** Reads `2026-11`; null where it is no month. */
export const readMonth = (text: string): Month | null => {
  const found = /^(\d{4})-(0[1-9]|1[0-2])$/.exec(text)
  return found === null ? null : { year: Number(found[1]), month: Number(found[2]) }
}

export const monthOf = (nowMs: number): Month => {
  const now = new Date(nowMs)
  return { year: now.getFullYear(), month: now.getMonth() + 1 }
}

export const movedBy = ({ month, year }: Month, months: number): Month => {
  const all = year * 12 + month - 1 + months
  return { year: Math.floor(all / 12), month: (all % 12) + 1 }
}

/** A day of a month, such as `2026-11-01`; one behind its end is of the next month. */
export const dayText = ({ month, year }: Month, day: number): string => {
  const at = new Date(Date.UTC(year, month - 1, day))
  return `${at.getUTCFullYear()}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`
}

export const daysIn = ({ month, year }: Month): number => new Date(Date.UTC(year, month, 0)).getUTCDate()

/** Days of the month that are over; null: all of them. */
export const daysOver = (month: Month, nowMs: number): number | null =>
  textOfMonth(month) === textOfMonth(monthOf(nowMs)) ? new Date(nowMs).getDate() - 1 : null

const sum = (values: ReadonlyArray<number>): number => values.reduce((all, each) => all + each, 0)

/** Days whose mean is taken for the days to come. */
const mostBefore = 7

export interface Forecast {
  /** Expected cost of a day that is to come. */
  readonly perDay: number
  /** Cost that is expected of today beyond what it has cost. */
  readonly restOfToday: number
  /** Cost of the whole month. */
  readonly month: number
  /** Days after today. */
  readonly days: number
}

/**
 * Forecasts a month: the mean of the last days that are over, for each that is to come. On the first day there is none yet.
 * `costs`: those of its days so far, today's at the end.
 */
export const forecastOf = (costs: ReadonlyArray<number>, all: number): Forecast | null => {
  const over = costs.slice(0, -1)
  if (over.length === 0 || costs.length > all) return null
  const last = over.slice(-mostBefore)
  const perDay = sum(last) / last.length
  const restOfToday = Math.max(0, perDay - (costs.at(-1) ?? 0))
  const days = all - costs.length
  return { perDay, restOfToday, days, month: sum(costs) + restOfToday + days * perDay }
}

/** Part by which a cost has changed; null: there was none before. */
export const changeOf = (now: number, before: number): number | null => (before > 0 ? now / before - 1 : null)

interface Limits {
  readonly dailyLimitUsd: number
  readonly weeklyLimitUsd: number
  readonly monthlyLimitUsd: number
}

/** The most that a budget lets be spent on a day on average; null: it limits nothing. */
export const perDayOf = ({ dailyLimitUsd, monthlyLimitUsd, weeklyLimitUsd }: Limits, days: number): number | null => {
  const all = [dailyLimitUsd, weeklyLimitUsd / 7, monthlyLimitUsd / days].filter((each) => each > 0)
  return all.length === 0 ? null : Math.min(...all)
}

const steps = [1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10] as const
/** A limit is raised by so much at least. */
const leastRise = 1.25

/** The next round limit above one. */
export const raisedLimit = (limitUsd: number): number => {
  const least = limitUsd * leastRise
  const unit = 10 ** Math.floor(Math.log10(least))
  const step = steps.find((each) => each * unit >= least - unit * 1e-9) ?? 10
  return Number((step * unit).toPrecision(3))
}
