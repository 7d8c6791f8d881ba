/** Figures of the last minute and of today's budgets. Pure. */
import type { AnswerOf } from "../../api/client.ts"
import type { limitsBudget, telemetrySummary } from "../../api/calls.generated.ts"

/** Sums of a second (docs/live-feed.md). */
export interface Sums {
  readonly inflight: number
  readonly completed: number
  readonly failed: number
  readonly aborted: number
  readonly p95Ms: number | null
}

export interface Figures {
  readonly perSecond: number | null
  /** Part of the requests that failed; null: there was none. */
  readonly failed: number | null
  readonly p95Ms: number | null
  readonly running: number | null
}

type Minute = Pick<AnswerOf<typeof telemetrySummary>, "requests" | "errorRate" | "activeConnections" | "providers">

/** Seconds of the feed that say more than the minute before it began. */
const fewSeconds = 10

/** The figures of the last minute: of the feed, and of what was asked for while the feed has told little. */
export const figuresOf = (seconds: ReadonlyArray<Sums>, before: Minute | null): Figures => {
  const last = seconds.at(-1)
  const ended = seconds.reduce((sum, { aborted, completed, failed }) => sum + completed + failed + aborted, 0)
  const failed = seconds.reduce((sum, second) => sum + second.failed, 0)
  const slowest = seconds.flatMap(({ p95Ms }) => p95Ms ?? [])
  const running = last?.inflight ?? before?.activeConnections ?? null
  if (before !== null && seconds.length < fewSeconds && ended === 0) {
    return {
      perSecond: before.requests / 60,
      failed: before.requests === 0 ? null : before.errorRate,
      p95Ms: before.providers.length === 0 ? null : Math.max(...before.providers.map(({ p95 }) => p95)),
      running
    }
  }
  return {
    perSecond: seconds.length === 0 ? null : ended / seconds.length,
    failed: ended === 0 ? null : failed / ended,
    p95Ms: slowest.length === 0 ? null : Math.max(...slowest),
    running
  }
}

type Budgets = Extract<AnswerOf<typeof limitsBudget>, { readonly budgets: unknown }>["budgets"]

export interface Budgeted {
  readonly spentUsd: number
  readonly limitUsd: number
  /** Nothing was spent today beside them. */
  readonly isAll: boolean
}

/** The daily budgets together; null: no key has one. `spentUsd`: what all requests of today cost. */
export const dailyOf = (budgets: Budgets, spentUsd: number | null): Budgeted | null => {
  const windows = budgets.flatMap((status) => status.windows.filter(({ interval }) => interval === "daily"))
  if (windows.length === 0) return null
  const sum = (of: "spentUsd" | "limitUsd"): number => windows.reduce((total, window) => total + window[of], 0)
  const spent = sum("spentUsd")
  return { spentUsd: spent, limitUsd: sum("limitUsd"), isAll: spentUsd !== null && Math.abs(spentUsd - spent) < 0.005 }
}

/** Adds up the cost since a moment, of sums by step. */
export const spentSince = (
  {
    starts,
    total
  }: { readonly starts: ReadonlyArray<string>; readonly total: { readonly costUsd: ReadonlyArray<number> } },
  sinceMs: number
): number => starts.reduce((sum, start, at) => (Date.parse(start) >= sinceMs ? sum + (total.costUsd[at] ?? 0) : sum), 0)
