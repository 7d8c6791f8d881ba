/** Numbers, money and times as people read them, by the browser's own language. */
import { nowMs } from "../api/clock.ts"

const language = (): string => navigator.language

const cached = <A>(make: (options: string) => A): ((options: object) => A) => {
  const made = new Map<string, A>()
  return (options) => {
    const key = JSON.stringify(options)
    const known = made.get(key) ?? make(key)
    made.set(key, known)
    return known
  }
}

const numbers = cached((options) => new Intl.NumberFormat(language(), JSON.parse(options) as Intl.NumberFormatOptions))
const dates = cached(
  (options) => new Intl.DateTimeFormat(language(), JSON.parse(options) as Intl.DateTimeFormatOptions)
)

export const count = (value: number): string => numbers({ maximumFractionDigits: 0 }).format(value)

/** With as few digits as say it: 12.4k. */
export const short = (value: number): string => numbers({ notation: "compact", maximumFractionDigits: 1 }).format(value)

export const percent = (share: number): string =>
  numbers({ style: "percent", maximumFractionDigits: share !== 0 && share < 0.1 ? 1 : 0 }).format(share)

/** US dollars with enough digits that no cost reads as nothing. */
export const money = (usd: number): string => {
  if (usd === 0) return numbers({ style: "currency", currency: "USD" }).format(0)
  const digits = Math.abs(usd) >= 1 ? 2 : Math.min(9, 1 - Math.floor(Math.log10(Math.abs(usd))))
  return numbers({
    style: "currency",
    currency: "USD",
    minimumFractionDigits: Math.min(2, digits),
    maximumFractionDigits: Math.max(2, digits)
  }).format(usd)
}

const byteUnits = ["byte", "kilobyte", "megabyte", "gigabyte"] as const

/** A size with as few digits as say it: 5.2 MB. */
export const size = (bytes: number): string => {
  const step = bytes < 1_000 ? 0 : Math.min(3, Math.floor(Math.log10(bytes) / 3))
  const value = bytes / 1_000 ** step
  return numbers({
    style: "unit",
    unit: byteUnits[step],
    unitDisplay: step === 0 ? "long" : "short",
    maximumFractionDigits: value < 10 && step > 0 ? 1 : 0
  }).format(value)
}

/** A length of time given in milliseconds. */
export const duration = (ms: number): string => {
  if (ms < 1_000) return `${numbers({ maximumFractionDigits: 0 }).format(ms)} ms`
  if (ms < 60_000) return `${numbers({ maximumFractionDigits: ms < 10_000 ? 2 : 1 }).format(ms / 1_000)} s`
  const seconds = Math.round(ms / 1_000)
  const two = (value: number): string => String(value).padStart(2, "0")
  return seconds < 3_600
    ? `${Math.floor(seconds / 60)}:${two(seconds % 60)} min`
    : `${Math.floor(seconds / 3_600)}:${two(Math.floor((seconds % 3_600) / 60))} h`
}

export { nowMs }

/** The time in the reader's zone, with its name. */
export const exact = (iso: string): string => dates({ dateStyle: "medium", timeStyle: "long" }).format(new Date(iso))

export const clockTime = (iso: string): string => {
  const at = new Date(iso)
  const isToday = at.toDateString() === new Date(nowMs()).toDateString()
  return isToday
    ? dates({ hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(at)
    : dates({ month: "short", day: "numeric", hour: "2-digit", minute: "2-digit" }).format(at)
}

const relative = new Intl.RelativeTimeFormat(language(), { numeric: "auto", style: "short" })

/** "3 min ago" within an hour; else the time of day or the day. */
export const ago = (iso: string): string => {
  const seconds = Math.round((Date.parse(iso) - nowMs()) / 1_000)
  if (Math.abs(seconds) < 60) return relative.format(seconds, "second")
  return Math.abs(seconds) < 3_600 ? relative.format(Math.round(seconds / 60), "minute") : clockTime(iso)
}

/** Makes characters visible that turn text around or hide in it: what a model, a client or a provider wrote is shown as it is. */
export const visible = (text: string): string =>
  text.replaceAll(/[\p{Cc}\p{Bidi_Control}\u200b\ufeff]/gu, (letter) =>
    letter === "\n" || letter === "\t"
      ? letter
      : `\u2423${(letter.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`
  )
