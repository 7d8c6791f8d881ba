/** Times as people give them. Pure. */

import { isDay } from "../../../../kernel/time/IsoInstant.ts"

const unitMs: Readonly<Record<string, number>> = {
  s: 1_000,
  m: 60_000,
  min: 60_000,
  h: 3_600_000,
  d: 86_400_000,
  w: 604_800_000
}

/** Milliseconds of `2h`; null when it is none. */
export const durationMs = (text: string): number | null => {
  const [, count, unit = ""] = /^(\d{1,7})\s*(s|m|min|h|d|w)$/.exec(text.trim()) ?? []
  return count === undefined ? null : Number(count) * (unitMs[unit] ?? 0)
}

/** ISO time of `2h` (ago), of a day or of a time on this machine's clock; null when it is none. */
export const timeOf = (text: string, nowMs: number): string | null => {
  const agoMs = durationMs(text)
  if (agoMs !== null) return new Date(nowMs - agoMs).toISOString()
  const [, day = "", time = ""] = /^(\d{4}-\d\d-\d\d)(?:[Tt ](.+))?$/.exec(text.trim()) ?? []
  if (!isDay(day)) return null
  // Without a time of day, JavaScript would take a date for one of UTC.
  const date = new Date(`${day}T${time === "" ? "00:00:00" : time}`)
  return Number.isNaN(date.getTime()) ? null : date.toISOString()
}
