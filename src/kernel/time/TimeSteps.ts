/**
 * Minutes, hours and days by the clocks of a zone. A step begins where its clocks begin a unit; the date that comes twice is its first
 * occurrence, and a midnight that a change of the clocks leaves out is the instant of that change. Pure.
 */
import { offsetsOf, type ZoneOffset } from "./TimeZones.ts"

export type TimeStep = "minute" | "hour" | "day"

export const stepMs: Readonly<Record<TimeStep, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 }

export interface TimeSteps {
  /** Beginnings of the steps, epoch milliseconds, in order. */
  readonly starts: ReadonlyArray<number>
  /** End of the last step. */
  readonly endMs: number
  /** Offsets of the zone from the first beginning to the end. */
  readonly offsets: ReadonlyArray<ZoneOffset>
}

const margin = 2 * stepMs.day

/** Beginning of the unit at an instant, by one offset. */
const floorAt = (atMs: number, offsetMs: number, unitMs: number): number =>
  Math.floor((atMs + offsetMs) / unitMs) * unitMs - offsetMs

/** The number of the unit at an instant. */
const unitAt = (atMs: number, offsetMs: number, unitMs: number): number => Math.floor((atMs + offsetMs) / unitMs)

/** Checks whether a change of the clocks begins a step within a unit of the new offset. */
const beginsAtChange = ({ fromMs, offsetMs }: ZoneOffset, before: ZoneOffset, unitMs: number): boolean =>
  floorAt(fromMs, offsetMs, unitMs) < fromMs &&
  (unitMs === stepMs.day
    ? unitAt(fromMs, offsetMs, unitMs) > unitAt(fromMs - 1, before.offsetMs, unitMs)
    : floorAt(fromMs, before.offsetMs, unitMs) === fromMs)

/** Appends the beginnings within one offset. Clocks that are set back repeat an hour, which is a step of its own, but no day. */
const addOf = (
  all: Array<number>,
  zone: ZoneOffset,
  before: ZoneOffset | undefined,
  untilMs: number,
  unitMs: number
): void => {
  const { fromMs, offsetMs } = zone
  const isSeen = (atMs: number): boolean =>
    unitMs === stepMs.day &&
    before !== undefined &&
    unitAt(atMs, offsetMs, unitMs) <= unitAt(fromMs - 1, before.offsetMs, unitMs)
  if (before !== undefined && beginsAtChange(zone, before, unitMs)) all.push(fromMs)
  const first = floorAt(fromMs, offsetMs, unitMs)
  for (let atMs = first < fromMs ? first + unitMs : first; atMs < untilMs; atMs += unitMs) {
    if (!isSeen(atMs)) all.push(atMs)
  }
}

/** The steps that have a part of a range, `fromMs` included and `untilMs` excluded. Throws for a name that is no zone. */
export const timeSteps = (timeZone: string, step: TimeStep, fromMs: number, untilMs: number): TimeSteps => {
  const unitMs = stepMs[step]
  const room = step === "day" ? margin : 2 * stepMs.hour
  const offsets = offsetsOf(timeZone, fromMs - room, untilMs + room)
  const all: Array<number> = []
  for (const [index, offset] of offsets.entries()) {
    addOf(all, offset, offsets[index - 1], offsets[index + 1]?.fromMs ?? untilMs + room, unitMs)
  }
  const first = all.findLastIndex((atMs) => atMs <= fromMs)
  const end = all.findIndex((atMs) => atMs >= untilMs)
  return { starts: all.slice(Math.max(first, 0), end), endMs: all[end] ?? untilMs, offsets }
}

/** Finds the step that an instant is in: its place among the beginnings; -1 before the first. */
export const placeOf = (starts: ReadonlyArray<number>, atMs: number): number => {
  let low = -1
  let high = starts.length
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if ((starts[middle] ?? 0) <= atMs) low = middle
    else high = middle
  }
  return low
}
