/** Chooses the steps of a series and what it is read from: sums of which grain, or the log. Pure. */
import { type TimeStep, type TimeSteps, stepMs, timeSteps } from "../../kernel/time/TimeSteps.ts"
import { keptMsOf, quarterMs, type SeriesBy, type SeriesSelection } from "../../store/usage/UsageSeriesSql.ts"
import { dayMs, hourMs, minuteMs } from "../../store/usage/UsageSumsSql.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import type { UsageFilter } from "./repo.ts"

/** Range of time and requests of it, as they are asked for; times are epoch milliseconds. */
export interface RangeQuery {
  readonly fromMs: number
  readonly toMs: number
  readonly step: TimeStep | "auto"
  readonly timeZone: string
  readonly filter: UsageFilter
}

/** Series as it is asked for. */
export interface SeriesQuery extends RangeQuery {
  readonly by: SeriesBy | null
  /** Series of an answer; what is left is summed up. */
  readonly top: number
}

/** Sums of a whole range, split by one or two dimensions. */
export interface SplitQuery extends RangeQuery {
  readonly by: ReadonlyArray<SeriesBy>
  /** Rows of an answer, the dearest; what is left is summed up. */
  readonly top: number
}

export const mostSteps = 500

/** Ranges up to which steps are short, where none is asked for. */
const autoSteps: ReadonlyArray<readonly [step: TimeStep, rangeMs: number]> = [
  ["minute", 6 * hourMs],
  ["hour", 14 * dayMs]
]

const stepOf = ({ fromMs, step, toMs }: RangeQuery): TimeStep =>
  step === "auto" ? (autoSteps.find(([, rangeMs]) => toMs - fromMs <= rangeMs)?.[0] ?? "day") : step

export interface ChosenSteps {
  readonly step: TimeStep
  readonly steps: TimeSteps
}

const tooMany = (count: number, step: TimeStep): FieldProblem => ({
  field: "step",
  message: `'${step}' makes ${count} steps of this range, and ${mostSteps} is the most: ask for ${step === "day" ? "" : "a longer step or "}a shorter range`
})

/** The steps of a query, or what is wrong with it. */
export const stepsOf = (query: RangeQuery): ChosenSteps | FieldProblem => {
  const { fromMs, timeZone, toMs } = query
  if (fromMs >= toMs) return { field: "to", message: "must be later than 'from'" }
  const step = stepOf(query)
  // Counted before they are made; the first and the last one may be parts of the range.
  const count = Math.ceil((toMs - fromMs) / stepMs[step])
  if (count > mostSteps + 2) return tooMany(count, step)
  const steps = timeSteps(timeZone, step, fromMs, toMs)
  return steps.starts.length > mostSteps ? tooMany(steps.starts.length, step) : { step, steps }
}

/** Filters that kinds of requests are told apart by. */
const summed = new Set<keyof UsageFilter>([
  "apiKeyId",
  "provider",
  "connectionId",
  "model",
  "combo",
  "outcome",
  "endedAs",
  "status"
])

type SumsSource = Extract<SeriesSelection["source"], { readonly basis: "sums" }>

export interface ChosenSource {
  /** Null: the log. */
  readonly sums: SumsSource | null
  /** Sentences on the parts that are not exact. */
  readonly inexact: ReadonlyArray<string>
}

const onTheLog: ChosenSource = { sums: null, inexact: [] }

const upToDay = (ms: number): number => Math.ceil(ms / dayMs) * dayMs

/** The time since which sums of a grain are there, at the beginning of a day in UTC. */
const keptSince = (grainMs: number, nowMs: number): number => upToDay(nowMs - keptMsOf(grainMs))

/** The longest grain of which all steps of the zone are whole multiples; null: none. */
const grainOf = (step: TimeStep, { offsets }: TimeSteps): number | null =>
  (step === "day" ? [dayMs, hourMs, quarterMs] : step === "hour" ? [hourMs, quarterMs] : [minuteMs]).find((ms) =>
    offsets.every(({ fromMs, offsetMs }, index) => offsetMs % ms === 0 && (index === 0 || fromMs % ms === 0))
  ) ?? null

const day = (ms: number): string => new Date(ms).toISOString().slice(0, 10)

const notes = {
  none: (sinceMs: number) => `Sums are kept for 800 days: what is older than ${day(sinceMs)} is not in them.`,
  days: (untilMs: number) => `Sums by hour are kept for 520 days: days before ${day(untilMs)} are those of UTC.`,
  hours: (timeZone: string, untilMs: number) =>
    `Hours of ${timeZone} do not begin at whole hours of UTC: before ${day(untilMs)} an hour that two steps share counts for the one in which it begins.`,
  noHours: (sinceMs: number) => `Sums by hour are kept for 520 days: what is older than ${day(sinceMs)} is not in them.`
}

type Part = SumsSource["parts"][number]

interface Parts {
  readonly parts: ReadonlyArray<Part>
  readonly inexact: ReadonlyArray<string>
}

/** Splits a range where the sums of a shorter grain are no longer kept. */
const partsOf = ({ step, steps }: ChosenSteps, grainMs: number, timeZone: string, nowMs: number): Parts => {
  const parts: Array<Part> = []
  const inexact: Array<string> = []
  const [firstMs = 0] = steps.starts
  let untilMs = steps.endMs
  const add = (ms: number, note: (sinceMs: number) => string): void => {
    const sinceMs = Math.min(untilMs, Math.max(firstMs, keptSince(ms, nowMs)))
    if (sinceMs < untilMs) parts.push({ grainMs: ms, sinceMs, untilMs })
    if (sinceMs > firstMs && untilMs > firstMs) inexact.push(note(sinceMs))
    untilMs = sinceMs
  }
  const toDays = step === "day"
  if (grainMs === quarterMs) add(quarterMs, (sinceMs) => notes.hours(timeZone, sinceMs))
  if (grainMs === minuteMs) add(minuteMs, notes.none)
  if (grainMs === quarterMs || grainMs === hourMs) add(hourMs, toDays ? notes.days : notes.noHours)
  if (toDays) add(dayMs, notes.none)
  return { parts, inexact }
}

/** Days that begin within hours: those hours by quarters, all others whole. */
const daysByHours = (chosen: ChosenSteps, timeZone: string, nowMs: number): Parts => {
  const { endMs, starts } = chosen.steps
  const [firstMs = 0] = starts
  const sinceMs = keptSince(quarterMs, nowMs)
  const split = [...starts, endMs]
    .filter((atMs) => atMs % hourMs !== 0)
    .map((atMs) => Math.floor(atMs / hourMs) * hourMs)
  const known = split.filter((atMs) => atMs >= sinceMs)
  const quarters = known.flatMap((atMs) => [0, 1, 2, 3].map((n) => atMs + n * quarterMs))
  const { inexact, parts } = partsOf(chosen, hourMs, timeZone, nowMs)
  return {
    parts: [
      { grainMs: quarterMs, sinceMs: firstMs, untilMs: endMs, only: quarters },
      ...parts.map((part) => (part.grainMs === hourMs ? Object.assign({}, part, { without: known }) : part))
    ],
    inexact: [...(known.length < split.length ? [notes.hours(timeZone, sinceMs)] : []), ...inexact]
  }
}

/** Chooses between the sums and the log. */
export const sourceOf = (
  query: RangeQuery & Pick<SeriesSelection, "by">,
  chosen: ChosenSteps,
  nowMs: number
): ChosenSource => {
  const { by, filter, timeZone } = query
  const grainMs = grainOf(chosen.step, chosen.steps)
  const isSummed = Object.keys(filter).every((name) => summed.has(name as keyof UsageFilter))
  if (grainMs === null || !isSummed) return onTheLog
  const [firstMs = 0] = chosen.steps.starts
  if (grainMs === minuteMs && firstMs < nowMs - keptMsOf(minuteMs) + hourMs) return onTheLog
  const { inexact, parts } =
    chosen.step === "day" && grainMs === quarterMs
      ? daysByHours(chosen, timeZone, nowMs)
      : partsOf(chosen, grainMs, timeZone, nowMs)
  const split = by === null ? [] : typeof by === "string" ? [by] : by
  const isWide =
    split.includes("apiKey") ||
    split.includes("connection") ||
    filter.apiKeyId !== undefined ||
    filter.connectionId !== undefined
  return { sums: { basis: "sums", parts, isWide }, inexact }
}
