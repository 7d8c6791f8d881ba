/** Tells what is left of a budget over its window, and how it goes on. Pure. */
import { reachedAtMs, type SpendWindow } from "../../../ui/time/pace.ts"

/** A point of the plot: part of the window that is over, and part of the limit that is left, both from 0 to 1. */
export interface Point {
  readonly x: number
  readonly y: number
}

export interface Burn {
  readonly left: ReadonlyArray<Point>
  /** From now to where it is used up, or to the end of the window; empty: there is no pace yet. */
  readonly expected: ReadonlyArray<Point>
}

interface Steps {
  readonly starts: ReadonlyArray<string>
  readonly end: string
  readonly costs: ReadonlyArray<number>
}

const within = (value: number): number => Math.min(1, Math.max(0, value))

/** The end of each step that is over, and now with what the budget itself counts. */
export const burnOf = (window: SpendWindow, { costs, end, starts }: Steps, nowMs: number): Burn => {
  const startMs = Date.parse(window.windowStart)
  const lengthMs = Date.parse(window.nextResetAt) - startMs
  const at = (ms: number, spentUsd: number): Point => ({
    x: within((ms - startMs) / lengthMs),
    y: within(1 - spentUsd / window.limitUsd)
  })
  const left: Array<Point> = [at(startMs, 0)]
  let spentUsd = 0
  for (const [place, cost] of costs.entries()) {
    const endMs = Date.parse(starts[place + 1] ?? end)
    if (endMs >= nowMs) break
    spentUsd += cost
    // What was spent before the window in its first step, and what is not booked yet, is not of it.
    if (endMs > startMs) left.push(at(endMs, Math.min(spentUsd, window.spentUsd)))
  }
  const now = at(nowMs, window.spentUsd)
  left.push(now)
  const reached = reachedAtMs(window, nowMs)
  if (window.spentUsd <= 0 || window.spentUsd >= window.limitUsd) return { left, expected: [] }
  if (reached !== null) return { left, expected: [now, at(reached, window.limitUsd)] }
  const gone = (nowMs - startMs) / lengthMs
  return { left, expected: gone > 0 ? [now, { x: 1, y: within(1 - window.spentUsd / gone / window.limitUsd) }] : [] }
}
