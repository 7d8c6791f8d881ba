/** Ranges of time that usage is summed up over. */
import * as Schema from "effect/Schema"
import { offsetsOf, type ZoneOffset } from "../../kernel/time/TimeZones.ts"

export const usageRanges = ["1h", "24h", "7d", "30d", "90d"] as const
export const UsageRange = Schema.Literal(...usageRanges)
export type UsageRange = typeof UsageRange.Type

const hourMs = 3_600_000
const dayMs = 24 * hourMs

const lengthMs: Readonly<Record<UsageRange, number>> = {
  "1h": hourMs,
  "24h": dayMs,
  "7d": 7 * dayMs,
  "30d": 30 * dayMs,
  "90d": 90 * dayMs
}

/** Times for which sums by hour and by day are kept: those by hour for ranges of up to 31 days. */
export const hoursKeptMs = 40 * dayMs
export const daysKeptMs = 800 * dayMs

/** Span as it is asked for; times are epoch milliseconds. */
export interface UsageSpan {
  /** Absent: 24 hours, or what `from` and `to` say. */
  readonly range?: UsageRange | undefined
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** Name of the IANA database, for the days. */
  readonly timeZone: string
}

/** Source of the sums. `rows`: the log; `sums`: by day until `splitMs`, by hour from there on. */
export type UsageSource =
  | { readonly by: "rows"; readonly sinceMs: number; readonly offsets: ReadonlyArray<ZoneOffset> }
  | {
      readonly by: "sums"
      readonly sinceMs: number
      readonly splitMs: number
      readonly untilMs: number
      readonly offsets: ReadonlyArray<ZoneOffset>
    }

export interface ChosenSpan {
  readonly range: UsageRange | null
  readonly source: UsageSource
  readonly fromMs: number
  readonly toMs: number
  /** Sentences on the parts that are not exact. */
  readonly inexact: ReadonlyArray<string>
}

const down = (ms: number, unitMs: number): number => Math.floor(ms / unitMs) * unitMs
const up = (ms: number, unitMs: number): number => Math.ceil(ms / unitMs) * unitMs
const iso = (ms: number): string => new Date(ms).toISOString()

/**
 * Computes the beginning of a range. From a day on a range begins at a whole hour, and 90 days at a whole day of UTC,
 * so that it may be longer by a part of one.
 */
const beginOf = (range: UsageRange, toMs: number, isUtc: boolean): number => {
  const sinceMs = Math.max(0, toMs - lengthMs[range])
  return down(sinceMs, range === "90d" && isUtc ? dayMs : hourMs)
}

interface Bounds {
  readonly range: UsageRange | null
  readonly sinceMs: number
  readonly untilMs: number
  /** Start as it was given; null: not given. */
  readonly askedFromMs: number | null
  readonly askedToMs: number | null
}

const boundsOf = (span: UsageSpan, nowMs: number, isUtc: boolean): Bounds => {
  const untilMs = span.toMs === undefined ? nowMs : Math.min(nowMs, up(span.toMs, hourMs))
  const range = span.fromMs === undefined ? (span.range ?? "24h") : null
  const begin = range === null ? down(span.fromMs ?? 0, hourMs) : beginOf(range, untilMs, isUtc)
  return {
    range: span.toMs === undefined ? range : null,
    sinceMs: Math.min(untilMs, Math.max(begin, down(nowMs - daysKeptMs, dayMs))),
    untilMs,
    askedFromMs: span.fromMs ?? null,
    askedToMs: span.toMs ?? null
  }
}

const notes = ({ askedFromMs, askedToMs, sinceMs, untilMs }: Bounds, nowMs: number, timeZone: string) => ({
  begin:
    askedFromMs !== null && askedFromMs < down(nowMs - daysKeptMs, dayMs)
      ? [`Sums are kept for ${daysKeptMs / dayMs} days: what is older than ${iso(sinceMs)} is not in them.`]
      : askedFromMs !== null && askedFromMs !== sinceMs && askedFromMs < nowMs
        ? [`'from' is no whole hour: the sums begin at ${iso(sinceMs)}.`]
        : [],
  end:
    askedToMs !== null && askedToMs !== untilMs && askedToMs < nowMs
      ? [`'to' is no whole hour: the sums end at ${iso(untilMs)}.`]
      : [],
  halfHours: [
    `The days of ${timeZone} do not begin at whole hours of UTC: an hour that two days share counts for the one in which it begins.`
  ],
  oldDays: (splitMs: number) => [
    `Sums by hour are kept for ${hoursKeptMs / dayMs} days: days before ${iso(splitMs).slice(0, 10)} are those of UTC.`
  ]
})

/**
 * Chooses the source of the sums of a span, and names the parts that are not exact. Without `from` and `to` it ends
 * now.
 */
export const spanOf = (span: UsageSpan, nowMs: number): ChosenSpan => {
  const { range, timeZone } = span
  if (range === "1h" && span.fromMs === undefined && span.toMs === undefined) {
    const sinceMs = Math.max(0, nowMs - lengthMs[range])
    const offsets = offsetsOf(timeZone, sinceMs, nowMs)
    return { range, source: { by: "rows", sinceMs, offsets }, fromMs: sinceMs, toMs: nowMs, inexact: [] }
  }
  const isUtc = timeZone === "UTC"
  const bounds = boundsOf(span, nowMs, isUtc)
  const { untilMs } = bounds
  const oldestHourMs = up(nowMs - hoursKeptMs, dayMs)
  const isOld = bounds.sinceMs < oldestHourMs
  // Of the time without sums by hour only whole days are known.
  const sinceMs = isOld ? down(bounds.sinceMs, dayMs) : bounds.sinceMs
  const untilDayMs = untilMs < oldestHourMs ? up(untilMs, dayMs) : untilMs
  const isWholeDays = isUtc && (untilDayMs === nowMs || untilDayMs % dayMs === 0)
  const splitMs = !isOld ? sinceMs : isWholeDays ? untilDayMs : Math.min(untilDayMs, oldestHourMs)
  const offsets = offsetsOf(timeZone, sinceMs, Math.max(sinceMs, untilDayMs))
  // What came in this very millisecond is in it.
  const endOf = (ms: number): number => (ms === nowMs ? nowMs + 1 : ms)
  const said = notes({ ...bounds, sinceMs, untilMs: untilDayMs }, nowMs, timeZone)
  const isHalf = splitMs < untilDayMs && offsets.some(({ offsetMs }) => offsetMs % hourMs !== 0)
  return {
    range: bounds.range,
    source: { by: "sums", sinceMs, splitMs: endOf(splitMs), untilMs: endOf(untilDayMs), offsets },
    fromMs: sinceMs,
    toMs: untilDayMs,
    inexact: [
      ...said.begin,
      ...said.end,
      ...(isOld && !isUtc ? said.oldDays(splitMs) : []),
      ...(isHalf ? said.halfHours : [])
    ]
  }
}

/** The date at an instant, as the beginning of that day in UTC. */
export const localDayMs = (offsets: ReadonlyArray<ZoneOffset>, atMs: number): number => {
  const { offsetMs } = offsets.findLast(({ fromMs }) => fromMs <= atMs) ?? offsets[0] ?? { offsetMs: 0 }
  return down(atMs + offsetMs, dayMs)
}
