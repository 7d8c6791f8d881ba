/**
 * Local time in the zones of the IANA database, as `Intl` knows them. Pure. A wall-clock time that a change of the clocks leaves out is taken
 * as the instant of that change; one that comes twice is its first occurrence.
 */

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

/** Formatters are costly to make; a gateway uses few zones. */
const mostFormats = 64
const formats = new Map<string, Intl.DateTimeFormat>()

const formatOf = (timeZone: string): Intl.DateTimeFormat => {
  const known = formats.get(timeZone)
  if (known !== undefined) return known
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric"
  })
  if (formats.size >= mostFormats) formats.clear()
  formats.set(timeZone, made)
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
    formatOf(text)
    return true
  } catch {
    return false
  }
}

const utcOf = ({ day, hour, minute, month, second, year }: Omit<LocalTime, "weekday">): number =>
  Date.UTC(year, month - 1, day, hour, minute, second)

/** The wall-clock time at an instant (epoch milliseconds). Throws for a name that is no zone. */
export const localTimeAt = (timeZone: string, atMs: number): LocalTime => {
  const fields = { year: 0, month: 0, day: 0, hour: 0, minute: 0, second: 0 }
  for (const { type, value } of formatOf(timeZone).formatToParts(atMs)) {
    if (type in fields) fields[type as keyof typeof fields] = Number(value)
  }
  return { ...fields, weekday: (new Date(utcOf(fields)).getUTCDay() + 6) % 7 }
}

/** Computes by how much the zone's clocks are ahead of UTC at an instant, in milliseconds. */
const offsetAt = (timeZone: string, atMs: number): number => {
  const wholeSecond = Math.floor(atMs / 1000) * 1000
  return utcOf(localTimeAt(timeZone, wholeSecond)) - wholeSecond
}

/** No change of the clocks is longer. */
const dayMs = 86_400_000

/**
 * The first instant (epoch milliseconds) at which the clocks of a zone show a time or a later one of that day's sequence. `day` may be
 * beyond the month's end or below 1 and then counts on into the neighbouring months.
 */
export const instantOf = (
  timeZone: string,
  local: Pick<LocalTime, "year" | "month" | "day" | "hour" | "minute">
): number => {
  const wall = utcOf({ ...local, second: 0 })
  const before = offsetAt(timeZone, wall - dayMs)
  const after = offsetAt(timeZone, wall + dayMs)
  // The greater offset gives the earlier instant.
  const candidates = [wall - Math.max(before, after), wall - Math.min(before, after)]
  for (const instant of candidates) if (offsetAt(timeZone, instant) === wall - instant) return instant
  return changeBetween(timeZone, wall - Math.max(before, after) - dayMs / 8, wall - Math.min(before, after) + dayMs / 8)
}

/** Offset of a zone's clocks ahead of UTC, from an instant on (epoch milliseconds). */
export interface ZoneOffset {
  readonly fromMs: number
  readonly offsetMs: number
}

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
