/**
 * Local time in the zones of the IANA database, as `Intl` knows them. Pure. A wall-clock time that a change of the clocks leaves out is taken
 * as the instant of that change; one that comes twice is its first occurrence.
 */
import * as DateTime from "effect/DateTime"

/** Wall-clock time of a zone. `month` counts from 1; `weekday` from 0, a Monday. */
export interface LocalTime {
  readonly year: number
  readonly month: number
  readonly day: number
  readonly hour: number
  readonly minute: number
  readonly second: number
  readonly weekday: number
}

/** Zones are costly to make, and Effect keeps them by their canonical names only; a gateway uses few. */
const mostZones = 64
const zones = new Map<string, DateTime.TimeZone.Named>()

const zoneOf = (name: string): DateTime.TimeZone.Named => {
  const known = zones.get(name)
  if (known !== undefined) return known
  const made = DateTime.zoneUnsafeMakeNamed(name)
  if (zones.size >= mostZones) zones.clear()
  zones.set(name, made)
  return made
}

/** Names of zones are shorter; what is longer is not asked of `Intl`. */
const maxZoneChars = 64

/**
 * Checks whether a text names a zone, such as `Europe/Zurich` or `UTC`. Offsets such as `+02:00` do not: they know no
 * summer time.
 */
export const isTimeZone = (text: string): boolean => {
  if (text.length > maxZoneChars || !/^[A-Za-z]/.test(text)) return false
  try {
    zoneOf(text)
    return true
  } catch {
    return false
  }
}

const zonedAt = (timeZone: string, atMs: number): DateTime.Zoned =>
  DateTime.unsafeMakeZoned(atMs, { timeZone: zoneOf(timeZone) })

/** The wall-clock time at an instant (epoch milliseconds). Throws for a name that is no zone. */
export const localTimeAt = (timeZone: string, atMs: number): LocalTime => {
  const { day, hours, minutes, month, seconds, weekDay, year } = DateTime.toParts(zonedAt(timeZone, atMs))
  return { year, month, day, hour: hours, minute: minutes, second: seconds, weekday: (weekDay + 6) % 7 }
}

/** Computes by how much the zone's clocks are ahead of UTC at an instant, in milliseconds. */
const offsetAt = (timeZone: string, atMs: number): number => DateTime.zonedOffset(zonedAt(timeZone, atMs))

/**
 * The first instant (epoch milliseconds) at which the clocks of a zone show a time or a later one of that day's sequence. `day` may be
 * beyond the month's end or below 1 and then counts on into the neighbouring months.
 */
export const instantOf = (
  timeZone: string,
  { day, hour, minute, month, year }: Pick<LocalTime, "year" | "month" | "day" | "hour" | "minute">
): number => {
  const wall = Date.UTC(year, month - 1, day, hour, minute)
  const shown = (disambiguation: "earlier" | "later"): DateTime.Zoned =>
    DateTime.unsafeMakeZoned(wall, { timeZone: zoneOf(timeZone), adjustForTimeZone: true, disambiguation })
  const earlier = shown("earlier")
  const earlierMs = DateTime.toEpochMillis(earlier)
  if (earlierMs + DateTime.zonedOffset(earlier) === wall) return earlierMs
  // The clocks leave it out: what Effect gives are times before and after the change.
  return changeBetween(timeZone, earlierMs, DateTime.toEpochMillis(shown("later")))
}

/** Offset of a zone's clocks ahead of UTC, from an instant on (epoch milliseconds). */
export interface ZoneOffset {
  readonly fromMs: number
  readonly offsetMs: number
}

const dayMs = 86_400_000

/** Shorter than any time between two changes of the clocks of a zone. */
const betweenChangesMs = 7 * dayMs

/** The offsets of a zone from one instant until another, in order; the first one begins at `fromMs`. */
export const offsetsOf = (timeZone: string, fromMs: number, untilMs: number): ReadonlyArray<ZoneOffset> => {
  const found: Array<ZoneOffset> = [{ fromMs, offsetMs: offsetAt(timeZone, fromMs) }]
  for (let atMs = fromMs; atMs < untilMs; atMs += betweenChangesMs) {
    const nextMs = Math.min(untilMs, atMs + betweenChangesMs)
    const offsetMs = offsetAt(timeZone, nextMs)
    if (offsetMs !== found.at(-1)?.offsetMs) found.push({ fromMs: changeBetween(timeZone, atMs, nextMs), offsetMs })
  }
  return found
}

/** The instant between two at which the offset of a zone changes. */
const changeBetween = (timeZone: string, fromMs: number, untilMs: number): number => {
  const first = offsetAt(timeZone, fromMs)
  let low = fromMs
  let high = untilMs
  while (high - low > 1_000) {
    const middle = Math.floor((low + high) / 2_000) * 1_000
    if (middle <= low) break
    if (offsetAt(timeZone, middle) === first) low = middle
    else high = middle
  }
  return Math.ceil(high / 1_000) * 1_000
}
