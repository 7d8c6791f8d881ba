/** Reads from the answer's headers when to come back. Names are asked for in lower case. */
import * as Names from "./HeaderNames.ts"
import { believable, httpDateAt, number, waitOf } from "./When.ts"

/** The value of a header, by its lower-case name; null when it is absent. */
export type HeaderLookup = (name: string) => string | null

/** Time in ms below which a difference is travel time and the whole seconds of `Date`, not skew. */
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

const commonLimits = Names.commonLimits.flatMap((limit) => [
  limit,
  ...Names.commonWindows.map((window) => `${limit}-${window}`)
])

/** Reads per-window limits: only one with nothing left shows when to come back. */
const usedUpOf = (
  header: HeaderLookup,
  nowMs: number,
  limits: ReadonlyArray<string>,
  nameOf: (limit: string, part: "remaining" | "reset") => string
): number | null =>
  longest(
    limits.map((limit) =>
      isUsedUp(header(nameOf(limit, "remaining"))) ? waitOf(header(nameOf(limit, "reset")) ?? "", nowMs) : null
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

/** Subscription windows (5 hours, 7 days) of an Anthropic account: they count only when one turned the request down. */
const anthropicPlan = (header: HeaderLookup, nowMs: number): number | null => {
  const waitIn = (window: (typeof Names.anthropicPlanWindows)[number] | null): number | null =>
    header(Names.anthropicPlan("status", window)) === "rejected"
      ? waitOf(header(Names.anthropicPlan("reset", window)) ?? "", nowMs)
      : null
  return waitIn(null) ?? longest(Names.anthropicPlanWindows.map(waitIn))
}

const isCodexUsedUp = (header: HeaderLookup, window: (typeof Names.codexPlanWindows)[number]): boolean =>
  Number.parseFloat(header(Names.codexPlan(window, "used-percent")) ?? "") >= 100

/** Subscription windows of a Codex account; the longest of those that are used up. */
const codexPlan = (header: HeaderLookup, nowMs: number): number | null =>
  longest(
    Names.codexPlanWindows.map((window) => {
      if (!isCodexUsedUp(header, window)) return null
      return (
        waitOf(header(Names.codexPlan(window, "reset-after-seconds")) ?? "", nowMs) ??
        waitOf(header(Names.codexPlan(window, "reset-at")) ?? "", nowMs)
      )
    })
  )

/** Checks whether the headers say that a window of a subscription is used up. */
export const isPlanUsedUp = (header: HeaderLookup): boolean =>
  [null, ...Names.anthropicPlanWindows].some(
    (window) => header(Names.anthropicPlan("status", window)) === "rejected"
  ) || Names.codexPlanWindows.some((window) => isCodexUsedUp(header, window))

/** Checks whether the headers name a limit of the account with nothing left in it. */
export const isAccountUsedUp = (header: HeaderLookup): boolean =>
  [
    "ratelimit-remaining",
    Names.commonLimit("remaining"),
    ...Names.commonLimits.map((limit) => Names.commonLimit("remaining", limit))
  ].some((name) => isUsedUp(header(name)))

/** Checks whether the headers say that the quota of this one model is used up. */
export const isModelUsedUp = (header: HeaderLookup): boolean =>
  isUsedUp(header("model-quota-remaining")) || isUsedUp(header("x-model-quota-remaining"))

/** Reads from the rate-limit headers when a used-up window opens again. */
export const resetHeaders = (header: HeaderLookup, nowMs: number): number | null =>
  anthropicPlan(header, nowMs) ??
  codexPlan(header, nowMs) ??
  longest([
    usedUpOf(header, nowMs, commonLimits, (limit, part) => Names.commonLimit(part, limit)),
    usedUpOf(header, nowMs, Names.anthropicLimits, Names.anthropicLimit)
  ]) ??
  single(header, nowMs)
