/**
 * Reads how long or until when, in every form upstreams use: seconds, `1m30s`, `3 days`, epoch seconds or milliseconds, HTTP
 * dates, ISO times. Pure and strict: what is not one of these is null, never a guess of `Date.parse`.
 */

const second = 1_000
const minute = 60 * second
const hour = 60 * minute
export const day = 24 * hour

/** A longer wait is not believed: such a number is a mistake, or of a clock that is wrong. */
export const absurdMs = 31 * day

const unitMs: ReadonlyArray<readonly [RegExp, number]> = [
  [/^(?:ms|msecs?|millis|milliseconds?)$/, 1],
  [/^(?:s|secs?|seconds?|秒)$/, second],
  [/^(?:m|mins?|minutes?|分钟?)$/, minute],
  [/^(?:h|hrs?|hours?|小时)$/, hour],
  [/^(?:d|days?|天)$/, day],
  [/^(?:w|wks?|weeks?)$/, 7 * day]
]

const unitOf = (word: string): number | null => unitMs.find(([pattern]) => pattern.test(word))?.[1] ?? null

const part = /(\d{1,12}(?:\.\d{1,9})?)[ -]{0,2}([a-z]{1,12}|秒|分钟?|小时|天)(?:,? and |, | |,)?/y

/** A duration at the start of a lower-case text (`1m2.5s`, `1 hour and 5 minutes`, `12 days`); null without one. */
export const durationAt = (text: string, index: number): number | null => {
  let total = 0
  let found = false
  part.lastIndex = index
  // Eight parts are more than any unit list has.
  for (let count = 0; count < 8; count++) {
    const match = part.exec(text)
    const unit = match === null ? null : unitOf(match[2] ?? "")
    if (match === null || unit === null) break
    total += Number(match[1]) * unit
    found = true
  }
  return found ? Math.ceil(total) : null
}

const wholeDuration = /^(?:\d{1,12}(?:\.\d{1,9})? ?(?:ms|s|m|h|d|w) ?)+$/

/** A value that is a duration and nothing else: `12s`, `1m30s`, `1500ms`, `6h0m0s`. */
export const duration = (value: string): number | null => {
  const text = value.trim().toLowerCase()
  return text.length <= 64 && wholeDuration.test(text) ? durationAt(text, 0) : null
}

const plainNumber = /^\d{1,16}(?:\.\d{1,9})?$/

/** A non-negative decimal number without sign, exponent or hex. */
export const number = (value: string): number | null => {
  const text = value.trim()
  return plainNumber.test(text) ? Number(text) : null
}

const isoTime = /^(\d{4}-\d{2}-\d{2})(?:[t ](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(z|utc|gmt|[+-]\d{2}:?\d{2})?)?/

/** Epoch of an ISO time at the start of a lower-case text. Without a zone it is UTC, without a time midnight. */
export const isoAt = (text: string): number | null => {
  const match = isoTime.exec(text)
  if (match === null) return null
  const zone = match[3] ?? "z"
  const offset = zone.startsWith("+") || zone.startsWith("-") ? `${zone.slice(0, 3)}:${zone.slice(-2)}` : "Z"
  const at = Date.parse(`${match[1]}T${match[2] ?? "00:00"}${offset}`)
  return Number.isFinite(at) ? at : null
}

const httpDate = /^[A-Za-z]{3,9},? [0-9A-Za-z][0-9A-Za-z: -]{10,40}$/
const zoned = /(?:gmt|utc|z|[+-]\d{4})$/i

/** Epoch of an HTTP date (RFC 9110 5.6.7: all three forms). */
export const httpDateAt = (value: string): number | null => {
  const text = value.trim()
  if (!httpDate.test(text)) return null
  const at = Date.parse(zoned.test(text) ? text : `${text} GMT`)
  return Number.isFinite(at) ? at : null
}

/** Epoch milliseconds of a number that is too large to be a wait; null for a wait. */
export const epochOf = (value: number): number | null => {
  if (value >= 1e11 && value < 1e14) return value
  return value >= 1e9 && value < 1e11 ? value * 1000 : null
}

/** Milliseconds until an absolute time; null when it is over or absurdly far. */
export const until = (at: number | null, nowMs: number): number | null => {
  if (at === null) return null
  const wait = Math.ceil(at - nowMs)
  return wait > 0 && wait <= absurdMs ? wait : null
}

/** A wait that can be believed: positive and not absurdly long. */
export const believable = (waitMs: number | null): number | null =>
  waitMs !== null && waitMs > 0 && waitMs <= absurdMs ? Math.ceil(waitMs) : null

/** A value in any form: a wait in seconds or as a duration, or a time as epoch, ISO or HTTP date. Null when it is none or over. */
export const waitOf = (value: string, nowMs: number): number | null => {
  const plain = number(value)
  if (plain !== null) return plain >= 1e9 ? until(epochOf(plain), nowMs) : believable(plain * second)
  const relative = duration(value)
  if (relative !== null) return believable(relative)
  return until(isoAt(value.trim().toLowerCase()) ?? httpDateAt(value), nowMs)
}

/** Milliseconds to the next time the clock shows `hourUtc`:`minuteUtc`. */
export const untilClock = (hourUtc: number, minuteUtc: number, nowMs: number): number => {
  const wait = hourUtc * hour + minuteUtc * minute - (((nowMs % day) + day) % day)
  return wait > 0 ? wait : wait + day
}
