/**
 * Checks whether an access schedule is open, by the wall clock of its zone: where the clocks change, an hour that comes twice is open or
 * closed both times. Pure.
 */
import type { AccessSchedule } from "../keys/entity.ts"
import { localTimeAt } from "../../kernel/time/TimeZones.ts"

const clockTime = /^([01]\d|2[0-3]):([0-5]\d)$/

/** Minutes since midnight of `HH:MM`; null for another text. */
export const minutesOf = (text: string): number | null => {
  const parts = clockTime.exec(text)
  return parts === null ? null : Number(parts[1]) * 60 + Number(parts[2])
}

const minuteMs = 60_000

/** The schedule as a function of epoch milliseconds; null when it is off. Throws for an unknown zone. */
export const makeSchedule = ({
  days,
  enabled,
  from,
  tz,
  until
}: AccessSchedule): ((nowMs: number) => boolean) | null => {
  if (!enabled) return null
  const begin = minutesOf(from) ?? 0
  const end = minutesOf(until) ?? 0
  const onDays = new Set(days)
  const isOpenAt = (nowMs: number): boolean => {
    const { hour, minute, weekday } = localTimeAt(tz, nowMs)
    const today = (weekday + 1) % 7
    const at = hour * 60 + minute
    if (begin < end) return at >= begin && at < end && onDays.has(today)
    // Over midnight: what began yesterday lasts until today's end.
    return (at >= begin && onDays.has(today)) || (at < end && onDays.has((today + 6) % 7))
  }
  // Offsets of zones are whole minutes, so the answer holds for a minute; to ask `Intl` costs some microseconds.
  let known = { minute: Number.NaN, isOpen: false }
  return (nowMs) => {
    const minute = Math.floor(nowMs / minuteMs)
    if (known.minute !== minute) known = { minute, isOpen: isOpenAt(nowMs) }
    return known.isOpen
  }
}
