/** When to come back, as the answer's headers tell it. Names are asked for in lower case. */
import { believable, httpDateAt, number, waitOf } from "./When.ts"

/** The value of a header, by its lower-case name; null when it is absent. */
export type HeaderLookup = (name: string) => string | null

/** Below it a difference is travel time and the whole seconds of `Date`, not skew. */
const skewMs = 5_000

/**
 * The upstream's own idea of now: absolute times it names are read against its own clock. Ours where it shows none.
 */
export const upstreamNow = (header: HeaderLookup, nowMs: number): number => {
  const shown = httpDateAt(header("date") ?? "")
  return shown === null || Math.abs(shown - nowMs) < skewMs ? nowMs : shown
}

/** `retry-after-ms` and `Retry-After` (seconds, decimals, `12s`, HTTP date). */
export const retryAfter = (header: HeaderLookup, nowMs: number): number | null => {
  const exact = number(header("retry-after-ms") ?? "")
  return (exact === null ? null : believable(exact)) ?? waitOf(header("retry-after") ?? "", nowMs)
}

const longest = (waits: ReadonlyArray<number | null>): number | null => {
  const known = waits.filter((wait): wait is number => wait !== null)
  return known.length === 0 ? null : Math.max(...known)
}

const isUsedUp = (remaining: string | null): boolean => {
  const left = remaining === null ? null : Number.parseFloat(remaining)
  return left !== null && left <= 0
}

const windows = [
  "requests",
  "tokens",
  "requests-minute",
  "requests-hour",
  "requests-day",
  "tokens-minute",
  "tokens-hour",
  "tokens-day"
]

/** Per-window limits: only a window with nothing left tells when to come back. */
const windowed = (header: HeaderLookup, nowMs: number): number | null =>
  longest(
    windows.map((window) =>
      isUsedUp(header(`x-ratelimit-remaining-${window}`))
        ? waitOf(header(`x-ratelimit-reset-${window}`) ?? "", nowMs)
        : null
    )
  )

const anthropicWindows = ["requests", "tokens", "input-tokens", "output-tokens"]

const anthropic = (header: HeaderLookup, nowMs: number): number | null =>
  longest(
    anthropicWindows.map((window) =>
      isUsedUp(header(`anthropic-ratelimit-${window}-remaining`))
        ? waitOf(header(`anthropic-ratelimit-${window}-reset`) ?? "", nowMs)
        : null
    )
  )

const generic = ["x-ratelimit-reset-after", "x-ratelimit-reset", "x-rate-limit-reset", "ratelimit-reset"]

/** One limit for all; it is left alone where the header beside it says that something is left. */
const single = (header: HeaderLookup, nowMs: number): number | null => {
  for (const name of generic) {
    const value = header(name)
    const left = header(name.replace(/reset(-after)?$/, "remaining"))
    if (value !== null && (left === null || isUsedUp(left))) return waitOf(value, nowMs)
  }
  return null
}

const planWindows = ["5h", "7d"]

/** Subscription windows (5 hours, 7 days) of an Anthropic account: they count only when one turned the request down. */
const anthropicPlan = (header: HeaderLookup, nowMs: number): number | null => {
  const prefix = "anthropic-ratelimit-unified"
  if (header(`${prefix}-status`) === "rejected") {
    const wait = waitOf(header(`${prefix}-reset`) ?? "", nowMs)
    if (wait !== null) return wait
  }
  return longest(
    planWindows.map((window) =>
      header(`${prefix}-${window}-status`) === "rejected"
        ? waitOf(header(`${prefix}-${window}-reset`) ?? "", nowMs)
        : null
    )
  )
}

/** Subscription windows of a Codex account; the longest of those that are used up. */
const codexPlan = (header: HeaderLookup, nowMs: number): number | null =>
  longest(
    ["primary", "secondary"].map((window) => {
      const used = Number.parseFloat(header(`x-codex-${window}-used-percent`) ?? "")
      if (!(used >= 100)) return null
      return (
        waitOf(header(`x-codex-${window}-reset-after-seconds`) ?? "", nowMs) ??
        waitOf(header(`x-codex-${window}-reset-at`) ?? "", nowMs)
      )
    })
  )

/** Whether the headers say that a window of a subscription is used up. */
export const isPlanUsedUp = (header: HeaderLookup): boolean =>
  ["", "-5h", "-7d"].some((window) => header(`anthropic-ratelimit-unified${window}-status`) === "rejected") ||
  ["primary", "secondary"].some((window) => Number.parseFloat(header(`x-codex-${window}-used-percent`) ?? "") >= 100)

/** Whether the headers name a limit of the account with nothing left in it. */
export const isAccountUsedUp = (header: HeaderLookup): boolean =>
  [
    "x-ratelimit-remaining",
    "ratelimit-remaining",
    "x-ratelimit-remaining-requests",
    "x-ratelimit-remaining-tokens"
  ].some((name) => isUsedUp(header(name)))

/** Whether the headers say that the quota of this one model is used up. */
export const isModelUsedUp = (header: HeaderLookup): boolean =>
  isUsedUp(header("model-quota-remaining")) || isUsedUp(header("x-model-quota-remaining"))

/** When a used-up window opens again, as the rate-limit headers tell it. */
export const resetHeaders = (header: HeaderLookup, nowMs: number): number | null =>
  anthropicPlan(header, nowMs) ??
  codexPlan(header, nowMs) ??
  longest([windowed(header, nowMs), anthropic(header, nowMs)]) ??
  single(header, nowMs)
