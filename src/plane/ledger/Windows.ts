/** The windows of limits: days, weeks from Monday, and months, each from a time of day in a zone. Pure. */
import type { ResetRule } from "../../subjects/limits/entity.ts"
import { LruMap } from "../../kernel/collections/LruMap.ts"
import { instantOf, localTimeAt } from "../../kernel/time/TimeZones.ts"

/** Epoch milliseconds: from `startMs`, before `endMs`. */
export interface LimitWindow {
  readonly startMs: number
  readonly endMs: number
}

/** Keys share few rules, and time goes on slowly: their latest windows are remembered. */
const mostRules = 1_000
const latest = new LruMap<string, LimitWindow>({ capacity: mostRules })

/** The window that an instant is in. */
export const windowAt = (rule: ResetRule, atMs: number): LimitWindow => {
  const name = `${rule.interval} ${rule.resetTime} ${rule.timeZone}`
  const known = latest.get(name)
  if (known !== undefined && known.startMs <= atMs && atMs < known.endMs) return known
  const found = compute(rule, atMs)
  latest.set(name, found)
  return found
}

const compute = ({ interval, resetTime, timeZone }: ResetRule, atMs: number): LimitWindow => {
  const [hour = 0, minute = 0] = resetTime.split(":").map(Number)
  const { day, month, weekday, year } = localTimeAt(timeZone, atMs)
  /** The beginning of the window that lies `by` after the one of the local date. */
  const startAfter = (by: number): number => {
    switch (interval) {
      case "daily":
        return instantOf(timeZone, { year, month, day: day + by, hour, minute })
      case "weekly":
        return instantOf(timeZone, { year, month, day: day - weekday + 7 * by, hour, minute })
      case "monthly":
        return instantOf(timeZone, { year, month: month + by, day: 1, hour, minute })
    }
  }
  let by = 0
  while (startAfter(by) > atMs) by -= 1
  while (startAfter(by + 1) <= atMs) by += 1
  return { startMs: startAfter(by), endMs: startAfter(by + 1) }
}
