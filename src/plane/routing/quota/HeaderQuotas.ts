/**
 * Reads quotas and rate limits from the headers of an answer, in the forms of the providers. Pure. A window of hours or longer
 * that the gateway knows is a quota window; all else (limits per minute, limits without a named window) is a rate.
 */
import type { DeclaredQuota } from "../../../subjects/connections/entity.ts"
import { type HeaderLookup, upstreamNow } from "../../resilience/failure/HeaderHints.ts"
import * as Names from "../../resilience/failure/HeaderNames.ts"
import { number, waitOf } from "../../resilience/failure/When.ts"
import { windowOfMinutes, type WindowName } from "./Span.ts"

/** One quota window as the provider shows it. */
export interface ShownWindow {
  readonly window: WindowName
  readonly unit: DeclaredQuota["unit"]
  readonly used: number
  readonly total: number
  /** Epoch milliseconds. */
  readonly resetAtMs: number | null
}

/** One rate limit as the provider shows it. */
export interface ShownRate {
  /**
   * Name of the limited unit (`requests`, `tokens`, `input-tokens`, `output-tokens`), or the window where only that is
   * known.
   */
  readonly name: string
  readonly left: number
  /** Null where only the rest is reading. */
  readonly total: number | null
  readonly resetAtMs: number | null
}

export interface ShownQuotas {
  readonly plan: string | null
  readonly windows: ReadonlyArray<ShownWindow>
  readonly rates: ReadonlyArray<ShownRate>
}

/** Looked for in every answer, so the names are made once. */
const shown = {
  anthropicPlan: Names.anthropicPlan("status"),
  anthropicFiveHours: Names.anthropicPlan("utilization", "5h"),
  anthropicRequests: Names.anthropicLimit("requests", "remaining"),
  codexPlan: Names.codexPlan("primary", "used-percent"),
  requests: Names.commonLimit("remaining", "requests"),
  tokens: Names.commonLimit("remaining", "tokens"),
  requestsOfDay: Names.commonLimit("remaining", "requests-day"),
  remaining: Names.commonLimit("remaining")
}

const has = (header: HeaderLookup, name: string): boolean => header(name) !== null

const anthropicPlan = (header: HeaderLookup): boolean =>
  has(header, shown.anthropicPlan) || has(header, shown.anthropicFiveHours)
const anthropicRates = (header: HeaderLookup): boolean => has(header, shown.anthropicRequests)
const codexPlan = (header: HeaderLookup): boolean => has(header, shown.codexPlan)
const openAiRates = (header: HeaderLookup): boolean =>
  has(header, shown.requests) ||
  has(header, shown.tokens) ||
  has(header, shown.requestsOfDay) ||
  has(header, shown.remaining)

/** A number of something left or allowed; less than nothing is nothing. */
const amount = (text: string | null): number | null =>
  text === null ? null : text.trimStart().startsWith("-") ? 0 : number(text)

interface HeaderReading {
  readonly header: HeaderLookup
  readonly nowMs: number
  /** Absolute times are read against the upstream's own clock. */
  readonly upstreamNowMs: number
}

const resetAt = ({ header, nowMs, upstreamNowMs }: HeaderReading, name: string): number | null => {
  const text = header(name)
  const waitMs = text === null ? null : waitOf(text, upstreamNowMs)
  return waitMs === null ? null : nowMs + waitMs
}

/** Rates under `<prefix>limit<suffix>`, `…remaining…` and `…reset…`. */
const rate = (reading: HeaderReading, name: string, nameOf: (part: Names.LimitPart) => string): ShownRate | null => {
  const left = amount(reading.header(nameOf("remaining")))
  const total = amount(reading.header(nameOf("limit")))
  const known = total !== null && total > 0
  if (left === null || (!known && left > 0)) return null
  return { name, left, total: known ? total : null, resetAtMs: resetAt(reading, nameOf("reset")) }
}

const percentOf = (text: string | null, whole: number): number | null => {
  const share = amount(text)
  return share === null ? null : Math.min(100, (share * 100) / whole)
}

const claims: Readonly<Record<string, string>> = { five_hour: "5h", seven_day: "7d" }

/** The subscription windows of an Anthropic account: 5 hours and 7 days, used shares of 1. */
const readAnthropicPlan = (reading: HeaderReading): ReadonlyArray<ShownWindow> => {
  const { header } = reading
  const refusing =
    header(Names.anthropicPlan("status")) === "rejected" ? header(Names.anthropicPlan("representative-claim")) : null
  const windows: Array<ShownWindow> = []
  for (const [short, window] of [
    ["5h", "5h"],
    ["7d", "weekly"]
  ] as const) {
    const refused = refusing !== null && claims[refusing] === short
    const rejected = refused || header(Names.anthropicPlan("status", short)) === "rejected"
    const used = rejected ? 100 : percentOf(header(Names.anthropicPlan("utilization", short)), 1)
    if (used === null) continue
    const resetAtMs =
      resetAt(reading, Names.anthropicPlan("reset", short)) ??
      (refused ? resetAt(reading, Names.anthropicPlan("reset")) : null)
    windows.push({ window, unit: "percent", used, total: 100, resetAtMs })
  }
  return windows
}

/** The two subscription windows of a Codex account, used per cent. One of a length that the contract has no name for is a rate. */
const readCodexPlan = (reading: HeaderReading): Pick<ShownQuotas, "windows" | "rates"> => {
  const windows: Array<ShownWindow> = []
  const rates: Array<ShownRate> = []
  for (const [which, usual] of [
    ["primary", 300],
    ["secondary", 10_080]
  ] as const) {
    const used = percentOf(reading.header(Names.codexPlan(which, "used-percent")), 100)
    const minutes = amount(reading.header(Names.codexPlan(which, "window-minutes"))) ?? usual
    if (used === null || minutes === 0) continue
    const window = windowOfMinutes(minutes)
    const resetAtMs =
      resetAt(reading, Names.codexPlan(which, "reset-after-seconds")) ??
      resetAt(reading, Names.codexPlan(which, "reset-at"))
    if (window === null) rates.push({ name: `${minutes} minutes`, left: 100 - used, total: 100, resetAtMs })
    else windows.push({ window, unit: "percent", used, total: 100, resetAtMs })
  }
  return { windows, rates }
}

const withoutNulls = <A>(values: ReadonlyArray<A | null>): ReadonlyArray<A> => values.filter((value) => value !== null)

/** `x-ratelimit-*`: the window is named (`-day`, `-hour`, `-minute`), or it is not. */
const readOpenAi = (reading: HeaderReading): Pick<ShownQuotas, "windows" | "rates"> => {
  const under = (suffix: string, name: string) => rate(reading, name, (part) => Names.commonLimit(part, suffix))
  const windows: Array<ShownWindow> = []
  for (const unit of Names.commonLimits) {
    for (const [word, window] of [
      ["hour", "hourly"],
      ["day", "daily"]
    ] as const) {
      const shown = under(`${unit}-${word}`, unit)
      if (shown === null || shown.total === null) continue
      const { left, resetAtMs, total } = shown
      windows.push({ window, unit, used: Math.max(0, total - left), total, resetAtMs })
    }
  }
  const rates = Names.commonLimits.flatMap((unit) => withoutNulls([under(unit, unit) ?? under(`${unit}-minute`, unit)]))
  return { windows, rates: rates.length > 0 ? rates : withoutNulls([under("", "requests")]) }
}

const readAnthropicRates = (reading: HeaderReading): ReadonlyArray<ShownRate> =>
  withoutNulls(Names.anthropicLimits.map((name) => rate(reading, name, (part) => Names.anthropicLimit(name, part))))

const nothing: Pick<ShownQuotas, "windows" | "rates"> = { windows: [], rates: [] }

/** Hot: reads quotas from headers; null, after a few looks, when they have none. */
export const readQuotas = (header: HeaderLookup, nowMs: number): ShownQuotas | null => {
  const plan = anthropicPlan(header)
  const perMinute = anthropicRates(header)
  const subscription = codexPlan(header)
  const common = openAiRates(header)
  if (!plan && !perMinute && !subscription && !common) return null
  const reading: HeaderReading = { header, nowMs, upstreamNowMs: upstreamNow(header, nowMs) }
  const general = common ? readOpenAi(reading) : nothing
  const ofPlan = subscription ? readCodexPlan(reading) : nothing
  return {
    plan: subscription ? (header(Names.codexPlanType)?.slice(0, 40) ?? null) : null,
    windows: [...(plan ? readAnthropicPlan(reading) : []), ...ofPlan.windows, ...general.windows],
    rates: [...(perMinute ? readAnthropicRates(reading) : []), ...ofPlan.rates, ...general.rates]
  }
}
