/** Reads from the body when to come back: from fields, or from text. */
import { detailReasons, type ErrorBody, objectOf, textOf, violatedQuotas } from "./ErrorBody.ts"
import { resetHeaders } from "./HeaderHints.ts"
import { absurdMs, believable, day, durationAt, epochOf, isoAt, number, until, untilClock, waitOf } from "./When.ts"

const inSeconds = [
  "resets_in_seconds",
  "reset_in_seconds",
  "reset_seconds",
  "retry_after_seconds",
  "retryAfterSeconds",
  "retry_after",
  "retryAfter"
]
const inMilliseconds = ["retry_after_ms", "retryAfterMs"]
const atTime = ["resets_at", "reset_at", "resetsAt", "resetAt", "reset_time", "resetTime"]

/** Google's `retryDelay`: `33s`, `2m`, `1500ms`, or `{seconds, nanos}`. */
const retryDelay = (detail: Readonly<Record<string, unknown>>, nowMs: number): number | null => {
  const text = textOf(detail, "retryDelay")
  if (text !== "") return waitOf(text, nowMs)
  return waitOf(textOf(objectOf(detail, "retryDelay"), "seconds"), nowMs)
}

/**
 * Checks whether a Google quota of a whole day is used up: its `retryDelay` is then that of the minute and is ignored.
 */
export const isDailyQuota = (body: ErrorBody): boolean => violatedQuotas(body).some((id) => /per_?day/i.test(id))

/** Checks whether a used-up quota of a day is the whole project's, not that of one model. */
export const isProjectDailyQuota = (body: ErrorBody): boolean =>
  violatedQuotas(body).some((id) => /per_?day/i.test(id) && !/per_?(?:base_?)?model/i.test(id))

/** Checks whether only quotas of a minute are used up. */
export const isMinuteQuota = (body: ErrorBody): boolean =>
  !isDailyQuota(body) &&
  (violatedQuotas(body).some((id) => /per_?minute/i.test(id)) || detailReasons(body).includes("RATE_LIMIT_EXCEEDED"))

const googleDetails = (body: ErrorBody, nowMs: number): number | null => {
  for (const detail of body.details) {
    const metadata = objectOf(detail, "metadata")
    const quota =
      waitOf(textOf(metadata, "quotaResetDelay"), nowMs) ?? waitOf(textOf(metadata, "quotaResetTimeStamp"), nowMs)
    if (quota !== null) return quota
  }
  if (isDailyQuota(body)) return null
  for (const detail of body.details) {
    const delay = retryDelay(detail, nowMs)
    if (delay !== null) return delay
  }
  return null
}

/** A relay that shows its own limit headers inside the body (`error.metadata.headers`). */
const relayedHeaders = (body: ErrorBody, nowMs: number): number | null => {
  for (const fields of body.fields) {
    const headers = new Map(
      Object.keys(objectOf(fields, "headers"))
        .slice(0, 64)
        .map((name) => [name.toLowerCase(), textOf(objectOf(fields, "headers"), name)])
    )
    const wait = headers.size === 0 ? null : resetHeaders((name) => headers.get(name) ?? null, nowMs)
    if (wait !== null) return wait
  }
  return null
}

/** Reads the wait in the fields of a body. */
export const bodyFields = (body: ErrorBody, nowMs: number): number | null => {
  const delay = googleDetails(body, nowMs)
  if (delay !== null) return delay
  for (const fields of body.fields) {
    for (const name of inSeconds) {
      const wait = waitOf(textOf(fields, name), nowMs)
      if (wait !== null) return wait
    }
    for (const name of inMilliseconds) {
      const wait = believable(number(textOf(fields, name)))
      if (wait !== null) return wait
    }
    for (const name of atTime) {
      const wait = waitOf(textOf(fields, name), nowMs)
      if (wait !== null) return wait
    }
  }
  return relayedHeaders(body, nowMs)
}

/** The longest wait that a message may ask for; a longer one is cut to it. */
const maxTextMs = 30 * day

/** Words before a time. The gap between the verb and the preposition is bounded, so a long text stays cheap. */
const lead =
  /(?<![a-z])(?:retry(?:ing)?(?: your request)?|try(?: \w{1,12}){0,2} again|resets?|refresh(?:es|ed)?|renews?|replenish(?:es|ed)?|available(?: again)?|wait|come back|regain access|重试|等待|重置)(?: (?!tomorrow|midnight)[a-z]{1,12})?(?: (?:after|in|at|on|for|until|within|by)|[-_ ]after)?[:=]? {0,2}["']?(?:about |approximately |around |at least |~)?/g
const clock = /^(\d{1,2}):(\d{2})(?::\d{2})? ?(am|pm)? ?\(?(?:utc|gmt|z)\b/
const bareSeconds = /^(\d{1,13}(?:\.\d{1,9})?)(?= ?(?:$|[.,;:!)"'\]}\n]))/
const midnight = /^(?:tomorrow|midnight|00:00)(?: at midnight)?[ ,(]{0,2}(pacific|pst|pdt|pt\b)?/
const markedEpoch = /limit reached\|(\d{10,13})/

/** Reads the time behind the matched text: a time, a duration, or a bare number of seconds. */
const waitAt = (text: string, index: number, nowMs: number): number | null => {
  const rest = text.slice(index, index + 80)
  const iso = isoAt(rest)
  if (iso !== null) return until(iso, nowMs)
  const relative = durationAt(text, index)
  if (relative !== null) return relative > 0 ? Math.min(relative, maxTextMs) : null
  const night = midnight.exec(rest)
  if (night !== null) return untilClock(night[1] === undefined ? 0 : 8, 0, nowMs)
  const shown = clock.exec(rest)
  if (shown !== null) {
    const hours = (Number(shown[1]) % (shown[3] === undefined ? 24 : 12)) + (shown[3] === "pm" ? 12 : 0)
    return untilClock(hours, Number(shown[2]) % 60, nowMs)
  }
  const bare = bareSeconds.exec(rest)
  if (bare === null) return null
  const value = Number(bare[1])
  return value >= 1e9 ? until(epochOf(value), nowMs) : believable(value * 1000)
}

/** The words of a time: a number or a date, and its unit where one follows. */
const timeWords = /^([^\s"'`,;)]{1,24})( ?[a-z]{1,12})?/

const all = (): boolean => true

/**
 * Reads the wait in a text. The longest counts: a later time in the same sentence is the one that ends the wait. Only parts that
 * are `isOwn` count.
 */
export const textHint = (message: string, nowMs: number, isOwn: (words: string) => boolean = all): number | null => {
  const text = message.toLowerCase()
  const marked = markedEpoch.exec(text)
  let best = marked === null || !isOwn(marked[0]) ? null : until(epochOf(Number(marked[1])), nowMs)
  for (const match of text.matchAll(lead)) {
    const end = match.index + match[0].length
    const wait = waitAt(text, end, nowMs)
    if (wait === null || wait > absurdMs || (best !== null && wait <= best)) continue
    const [whole = "", time = ""] = timeWords.exec(text.slice(end, end + 40)) ?? []
    if (isOwn(match[0] + time) && isOwn(match[0] + whole)) best = wait
  }
  return best
}
