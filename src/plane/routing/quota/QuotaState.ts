/**
 * Combines the known facts of one connection's quotas: those that the provider reports and those that were counted.
 * Pure.
 */
import * as Schema from "effect/Schema"
import { type DeclaredQuota, QuotaUnit, QuotaWindow as WindowSchema } from "../../../subjects/connections/entity.ts"
import { nanoUsdPerUsd } from "../../../contract/domain/Usage.ts"
import type { QuotaWindow } from "../candidate/Candidate.ts"
import { type Count, currentCount, currentSpan, type Declared } from "./Declared.ts"
import type { ShownRate, ShownWindow } from "./HeaderQuotas.ts"
import { lengthMs, type WindowName } from "./Span.ts"

const Epoch = Schema.Finite

/** A window as the provider showed it, believed until it resets. */
const LearnedWindow = Schema.Struct({
  window: WindowSchema,
  unit: QuotaUnit,
  used: Schema.Finite,
  total: Schema.Positive,
  resetAtMs: Schema.NullOr(Epoch),
  untilMs: Epoch
})
export type LearnedWindow = typeof LearnedWindow.Type

const StoredCount = Schema.Struct({
  startMs: Epoch,
  endMs: Epoch,
  requests: Schema.Finite,
  tokens: Schema.Finite,
  nanoUsd: Schema.Finite
})

/** Part of the state that outlives a restart. */
export const StoredQuotas = Schema.Struct({
  plan: Schema.NullOr(Schema.String),
  learned: Schema.Array(LearnedWindow),
  counts: Schema.Record({ key: Schema.String, value: StoredCount })
})
export type StoredQuotas = typeof StoredQuotas.Type

/** A rate limit that holds for now. */
export interface Rate extends ShownRate {
  /** Time at which it was reported. */
  readonly sinceMs: number
  readonly untilMs: number
}

/** A quota as callers see it. Times are epoch milliseconds. */
export interface QuotaView {
  readonly window: WindowName
  readonly unit: DeclaredQuota["unit"]
  readonly source: "declared" | "learned"
  readonly used: number
  readonly total: number
  /** Null when it is not known: a share of a window that the provider has not shown. */
  readonly remaining: number | null
  readonly resetAtMs: number | null
  /** The view holds until then. */
  readonly untilMs: number
}

/** A limit that does not say when it resets is believed this long: such limits are of a minute. */
const rateBelievedMs = 60_000

export const believedRate = (rate: ShownRate, nowMs: number): Rate => ({
  ...rate,
  sinceMs: nowMs,
  untilMs: rate.resetAtMs ?? nowMs + rateBelievedMs
})

const isSame = (one: ShownWindow, other: ShownWindow): boolean => one.window === other.window && one.unit === other.unit

/** Merges newer reports into the known windows; expired ones are dropped. */
export const layWindows = (
  before: ReadonlyArray<LearnedWindow>,
  shown: ReadonlyArray<ShownWindow>,
  nowMs: number
): ReadonlyArray<LearnedWindow> => [
  ...before.filter((old) => old.untilMs > nowMs && !shown.some((newer) => isSame(old, newer))),
  ...shown.map((newer) => ({ ...newer, untilMs: newer.resetAtMs ?? nowMs + lengthMs[newer.window] }))
]

const usedOf = (count: Count | null, unit: DeclaredQuota["unit"]): number => {
  if (count === null) return 0
  if (unit === "usd") return count.nanoUsd / nanoUsdPerUsd
  return unit === "tokens" ? count.tokens : count.requests
}

const never = Number.POSITIVE_INFINITY

/** A declared share of a window: used is what the provider shows of that window. */
const shareView = ({ limit, unit, window }: Declared, learned: ReadonlyArray<LearnedWindow>): QuotaView => {
  const shares = learned.filter((shown) => shown.window === window)
  const used = Math.max(0, ...shares.map((shown) => (shown.used * 100) / shown.total))
  const known = shares.length > 0
  return {
    window,
    unit,
    source: "declared",
    used,
    total: limit,
    remaining: known ? Math.max(0, limit - used) : null,
    resetAtMs: shares[0]?.resetAtMs ?? null,
    untilMs: Math.min(never, ...shares.map((shown) => shown.untilMs))
  }
}

const countedView = (declared: Declared, count: Count | null, nowMs: number): QuotaView => {
  const { limit, unit, window } = declared
  const used = usedOf(count, unit)
  const span = currentSpan(declared, count, nowMs)
  return {
    window,
    unit,
    source: "declared",
    used,
    total: limit,
    remaining: Math.max(0, limit - used),
    resetAtMs: span?.endMs ?? null,
    untilMs: span?.endMs ?? never
  }
}

const learnedView = ({ resetAtMs, total, unit, untilMs, used, window }: LearnedWindow): QuotaView => ({
  window,
  unit,
  source: "learned",
  used,
  total,
  remaining: Math.max(0, total - used),
  resetAtMs,
  untilMs
})

/** Everything that is known now: what the operator declared first. */
export const viewsOf = (
  declared: ReadonlyArray<Declared>,
  learned: ReadonlyArray<LearnedWindow>,
  counts: ReadonlyMap<string, Count>,
  nowMs: number
): ReadonlyArray<QuotaView> => {
  const current = learned.filter((shown) => shown.untilMs > nowMs)
  return [
    ...declared.map((quota) =>
      quota.unit === "percent"
        ? shareView(quota, current)
        : countedView(quota, currentCount(counts.get(quota.key), nowMs), nowMs)
    ),
    ...current.map(learnedView)
  ]
}

/** Computes the part that is left, [0, 1]; null when that is not known. */
export const shareOf = ({ remaining, total }: Pick<QuotaView, "remaining" | "total">): number | null =>
  remaining === null ? null : Math.min(1, remaining / total)

/** Selects, by window, the view with the least left. One with an unknown rest comes last. */
export const tightest = (views: ReadonlyArray<QuotaView>): ReadonlyMap<WindowName, QuotaView> => {
  const byWindow = new Map<WindowName, QuotaView>()
  for (const view of views) {
    const other = byWindow.get(view.window)
    if (other === undefined || (shareOf(view) ?? 2) < (shareOf(other) ?? 2)) byWindow.set(view.window, view)
  }
  return byWindow
}

/** Converts to the form for routing: one by window, only those of which something is known. */
export const windowsOf = (views: ReadonlyArray<QuotaView>): ReadonlyArray<QuotaWindow> => {
  const windows: Array<QuotaWindow> = []
  for (const view of tightest(views).values()) {
    const remaining = shareOf(view)
    if (remaining !== null) windows.push({ window: view.window, remaining, resetAtMs: view.resetAtMs })
  }
  return windows
}

/** Rate limits are of minutes: after a clock was set back by more than that their end is not known. */
const mostBackMs = 60_000

const holds = ({ sinceMs, untilMs }: Rate, nowMs: number): boolean => untilMs > nowMs && nowMs > sinceMs - mostBackMs

/** Selects the rates that still hold; the same list when all do. */
export const currentRates = (rates: ReadonlyArray<Rate>, nowMs: number): ReadonlyArray<Rate> =>
  rates.every((rate) => holds(rate, nowMs)) ? rates : rates.filter((rate) => holds(rate, nowMs))

/** Computes the part of a rate limit that is left, [0, 1]. */
export const rateShareOf = ({ left, total }: Pick<ShownRate, "left" | "total">): number =>
  total === null ? 0 : Math.min(1, left / total)

/** The tightest rate limit, as routing sees it; null without any. */
export const rateWindow = (rates: ReadonlyArray<Rate>): QuotaWindow | null => {
  let tight: Rate | null = null
  for (const rate of rates) if (tight === null || rateShareOf(rate) < rateShareOf(tight)) tight = rate
  return tight === null ? null : { window: "rate", remaining: rateShareOf(tight), resetAtMs: tight.resetAtMs }
}
