/** Forecasts when a quota will be used up, from the pace of its present window. Pure; times are epoch milliseconds. */
import type { QuotaView } from "./QuotaState.ts"
import { lengthMs } from "./Span.ts"

export type QuotaBasis = "declared" | "learned" | "header" | "forecast"

export interface Exhaustion {
  /** Null: not before it is renewed, or not known. */
  readonly atMs: number | null
  /** `forecast`: from the pace; else what the figures are from. */
  readonly basis: QuotaBasis
}

/** Time in ms of a window before which its pace says nothing, and the part of the window likewise. */
const leastMs = 5 * 60_000
const leastPart = 0.01

/** The moment is now where it is used up. */
export const exhaustionOf = (view: QuotaView, nowMs: number): Exhaustion => {
  const { remaining, resetAtMs, source, used, window } = view
  if (remaining === null) return { atMs: null, basis: source }
  if (remaining <= 0) return { atMs: nowMs, basis: source }
  if (resetAtMs === null || resetAtMs <= nowMs || used <= 0) return { atMs: null, basis: source }
  const elapsedMs = nowMs - (resetAtMs - lengthMs[window])
  if (elapsedMs < Math.max(leastMs, leastPart * lengthMs[window])) return { atMs: null, basis: source }
  const atMs = Math.round(nowMs + (remaining * elapsedMs) / used)
  return atMs < resetAtMs ? { atMs, basis: "forecast" } : { atMs: null, basis: source }
}
