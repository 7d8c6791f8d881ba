/** Flags about the time zone and the quiet hours of a webhook, and how these are shown. */
import * as Options from "@effect/cli/Options"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import { BadArgument } from "../../../cli/Failure.ts"
import { type PassSeverity, type Weekday, weekdays } from "../entity.ts"
import type { WebhookView } from "../routes.ts"

export const quietSettings = {
  timeZone: Options.text("timezone").pipe(
    Options.withDescription("The zone of reports and quiet hours, such as Europe/Zurich; without it UTC."),
    Options.optional
  ),
  quiet: Options.text("quiet").pipe(
    Options.withDescription(
      "When events wait and are told together at the end: 22:00-07:00, or 'mon-fri 22:00-07:00'; 'none'. Several times."
    ),
    Options.repeated
  ),
  quietPass: Options.text("quiet-pass").pipe(
    Options.withDescription(
      "What is sent in quiet hours all the same: error, warning, or an event such as quota.exceeded. Several times."
    ),
    Options.repeated
  )
}

export interface QuietFlags {
  readonly timeZone: Option.Option<string>
  readonly quiet: ReadonlyArray<string>
  readonly quietPass: ReadonlyArray<string>
}

export const quietFlagNames = { timeZone: "--timezone", quietHours: "--quiet" }

const form = /^(?:(\S+) +)?(\d{1,2}:\d\d)-(\d{1,2}:\d\d)$/
const allDay = "24:00"

const isWeekday = (word: string): word is Weekday => weekdays.some((day) => day === word)

/** `mon`, `mon-fri` or `fri-mon`; null: it names no days. */
const daysOfPart = (part: string): ReadonlyArray<Weekday> | null => {
  const [first = "", last = first, ...more] = part.split("-")
  if (!isWeekday(first) || !isWeekday(last) || more.length > 0) return null
  const from = weekdays.indexOf(first)
  const days = (weekdays.indexOf(last) - from + weekdays.length) % weekdays.length
  return Array.from({ length: days + 1 }, (_, n) => weekdays[(from + n) % weekdays.length] ?? first)
}

const daysOf = (text: string): ReadonlyArray<Weekday> | null => {
  const parts = text.toLowerCase().split(",").map(daysOfPart)
  return parts.some((part) => part === null) ? null : parts.flatMap((part) => part ?? [])
}

/** `7:00` as `07:00`; the end of a day is the beginning of the next. */
const timeOf = (text: string): string => (text === allDay ? "00:00" : text.padStart(5, "0"))

const windowOf = (text: string) => {
  const [, named, from, to] = form.exec(text.trim()) ?? []
  const days = named === undefined ? undefined : daysOf(named)
  if (from === undefined || to === undefined || days === null) {
    return new BadArgument({
      message: `--quiet: '${text}' is no time of days. Give it as 22:00-07:00, or with days as 'mon-fri 22:00-07:00' or 'sat,sun 00:00-24:00'.`
    })
  }
  return Effect.succeed({ ...(days === undefined ? {} : { days }), from: timeOf(from), to: timeOf(to) })
}

const isSeverity = (word: string): word is PassSeverity => word === "error" || word === "warning"

/** Members of a body that the flags stand for. */
export const readQuiet = Effect.fnUntraced(function* ({ quiet, quietPass, timeZone }: QuietFlags) {
  const zone = { timeZone: Option.getOrUndefined(timeZone) }
  if (quiet.length === 0) {
    if (quietPass.length === 0) return { ...zone, quietHours: undefined }
    return yield* new BadArgument({ message: "--quiet-pass belongs to --quiet: give the times as well." })
  }
  if (quiet.length === 1 && quiet[0] === "none") return { ...zone, quietHours: null }
  const windows = yield* Effect.forEach(quiet, windowOf)
  // The milder one has the other in it.
  const passSeverity = quietPass.includes("warning") ? "warning" : (quietPass.find(isSeverity) ?? null)
  return { ...zone, quietHours: { windows, passSeverity, passEvents: quietPass.filter((word) => !isSeverity(word)) } }
})

export const quietText = (quietHours: WebhookView["quietHours"]): string => {
  if (quietHours === null) return "none"
  const { passEvents, passSeverity, windows } = quietHours
  const texts = windows.map(({ days, from, to }) =>
    days.length === weekdays.length ? `${from}-${to}` : `${days.join(",")} ${from}-${to}`
  )
  const through = [...(passSeverity === null ? [] : [passSeverity]), ...passEvents]
  return `${texts.join("; ")}${through.length === 0 ? "" : ` (but ${through.join(", ")})`}`
}
