/** Times in which events wait, by the clocks of a webhook's time zone. Pure. */
import { type LocalTime, localTimeAt } from "../../../kernel/time/TimeZones.ts"
import { type QuietHours, type QuietWindow, type Webhook, weekdays } from "../entity.ts"
import { type EventFields, severityOf } from "../messages/Notice.ts"

const minuteMs = 60_000

const minuteOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5))

const dayAt = (weekday: number): QuietWindow["days"][number] => weekdays[(weekday + 7) % 7] ?? "mon"

const isWithin = ({ days, from, to }: QuietWindow, { hour, minute, weekday }: LocalTime): boolean => {
  const now = hour * 60 + minute
  const begin = minuteOf(from)
  const end = minuteOf(to)
  const beginsToday = days.includes(dayAt(weekday))
  if (begin < end) return beginsToday && now >= begin && now < end
  return (beginsToday && now >= begin) || (days.includes(dayAt(weekday - 1)) && now < end)
}

type Hours = Pick<Webhook, "quietHours" | "timeZone">

export const isQuietAt = ({ quietHours, timeZone }: Hours, atMs: number): boolean => {
  if (quietHours === null) return false
  const local = localTimeAt(timeZone, atMs)
  return quietHours.windows.some((window) => isWithin(window, local))
}

/** Checks whether an event is sent at any hour. */
export const passes = ({ passEvents, passSeverity }: QuietHours, event: string, data: EventFields): boolean => {
  if (passEvents.includes(event)) return true
  if (passSeverity === null) return false
  const severity = severityOf(event, data)
  return severity === "error" || (severity === "warning" && passSeverity === "warning")
}

/**
 * Time until the next minute begins: hours begin and end there in every zone. A clock that is set forward or back, and a change of summer time, are
 * noticed there too.
 */
export const untilNextMinuteMs = (nowMs: number): number => minuteMs - (((nowMs % minuteMs) + minuteMs) % minuteMs)
