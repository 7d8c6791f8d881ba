/** Forecasts how far a budget will go at the pace of its window so far. */
export interface SpendWindow {
  readonly limitUsd: number
  readonly spentUsd: number
  /** ISO 8601. */
  readonly windowStart: string
  readonly nextResetAt: string
}

/** Returns the time at which the limit is reached at the present pace, epoch milliseconds; null: not within the window. */
export const reachedAtMs = (
  { limitUsd, nextResetAt, spentUsd, windowStart }: SpendWindow,
  nowMs: number
): number | null => {
  const startMs = Date.parse(windowStart)
  const goneMs = nowMs - startMs
  if (spentUsd <= 0 || goneMs <= 0) return null
  if (spentUsd >= limitUsd) return nowMs
  const atMs = startMs + (goneMs * limitUsd) / spentUsd
  return atMs < Date.parse(nextResetAt) ? atMs : null
}
