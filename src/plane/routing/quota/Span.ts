/** Computes the start and end of a quota window. Pure; times are epoch milliseconds, the calendar is UTC. */
import type { QuotaWindow } from "../candidate/Candidate.ts"

export type WindowName = Exclude<QuotaWindow["window"], "rate">

/** A stretch of time; `endMs` is the first moment after it. */
export interface Span {
  readonly startMs: number
  readonly endMs: number
}

const minute = 60_000
const hour = 60 * minute
const day = 24 * hour

/** Longest first, as they are asked for. A month counts as 30 days where only its length matters. */
export const lengthMs: Readonly<Record<WindowName, number>> = {
  hourly: hour,
  "5h": 5 * hour,
  daily: day,
  weekly: 7 * day,
  monthly: 30 * day
}

/** The first Monday of the epoch. */
const monday = 4 * day

const near = (minutes: number, window: WindowName, tolerance: number): boolean =>
  Math.abs(minutes * minute - lengthMs[window]) <= lengthMs[window] * tolerance

/** The contract's window of about that length; null when it has none. Providers round, and months differ. */
export const windowOfMinutes = (minutes: number): WindowName | null => {
  if (near(minutes, "hourly", 0.05)) return "hourly"
  if (near(minutes, "5h", 0.05)) return "5h"
  if (near(minutes, "daily", 0.05)) return "daily"
  if (near(minutes, "weekly", 0.05)) return "weekly"
  return near(minutes, "monthly", 0.1) ? "monthly" : null
}

/** The same moment some months on; a day the month does not have is its last one. */
const plusMonths = (ms: number, months: number): number => {
  const at = new Date(ms)
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth() + months]
  const lastDay = new Date(Date.UTC(year, month + 1, 0)).getUTCDate()
  const timeOfDayMs = ((ms % day) + day) % day
  return Date.UTC(year, month, Math.min(at.getUTCDate(), lastDay)) + timeOfDayMs
}

const monthAround = (anchorMs: number, nowMs: number): Span => {
  const [anchor, now] = [new Date(anchorMs), new Date(nowMs)]
  const months = (now.getUTCFullYear() - anchor.getUTCFullYear()) * 12 + now.getUTCMonth() - anchor.getUTCMonth()
  const passed = plusMonths(anchorMs, months) <= nowMs ? months : months - 1
  return { startMs: plusMonths(anchorMs, passed), endMs: plusMonths(anchorMs, passed + 1) }
}

const around = (anchorMs: number, length: number, nowMs: number): Span => {
  const startMs = anchorMs + Math.floor((nowMs - anchorMs) / length) * length
  return { startMs, endMs: startMs + length }
}

/**
 * The span of a declared window that `nowMs` is in. With an anchor (a known reset) windows follow one another from there. Without
 * one they are those of the calendar; but 5 hours are of no calendar and begin with the first use: null.
 */
export const spanAt = (window: WindowName, anchorMs: number | null, nowMs: number): Span | null => {
  if (window === "monthly") return monthAround(anchorMs ?? 0, nowMs)
  if (anchorMs !== null) return around(anchorMs, lengthMs[window], nowMs)
  if (window === "5h") return null
  return around(window === "weekly" ? monday : 0, lengthMs[window], nowMs)
}
