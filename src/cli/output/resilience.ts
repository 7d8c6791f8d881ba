/** Columns of lists of the states of providers, connections and models. */
import type { AccountCounts, AccountStatus } from "../../subjects/rateLimits/routes.ts"
import type { BreakerView, LockoutView } from "../../subjects/resilience/routes.ts"
import * as Column from "./Column.ts"

/** A span of time in its two largest units, rounded up to a second. */
export const span = (ms: number): string => {
  const seconds = Math.ceil(ms / 1000)
  const parts = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor(seconds / 3600) % 24, "h"],
    [Math.floor(seconds / 60) % 60, "min"],
    [seconds % 60, "s"]
  ] as const
  const first = parts.findIndex(([count]) => count > 0)
  if (first === -1) return "0 s"
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, unit]) => `${count} ${unit}`)
    .join(" ")
}

/** A breaker that is worth showing. */
export const hasMoved = ({ failures, state }: BreakerView): boolean => state !== "CLOSED" || failures > 0

/** An account that cannot be used now: it cools down, or waits for an operator. */
export const isOut = ({ remainingMs }: AccountStatus): boolean => remainingMs !== 0

export const breakerColumns: ReadonlyArray<Column.Column<BreakerView>> = [
  Column.name("PROVIDER", (breaker) => breaker.provider),
  Column.text("CLASS", (breaker) => breaker.class),
  Column.text("BREAKER", (breaker) => breaker.state, { fit: "keep" }),
  Column.number("FAILURES", (breaker) => breaker.failures),
  Column.number("TRIED AGAIN IN", ({ retryAfterMs }) => retryAfterMs, span)
]

export const accountColumns: ReadonlyArray<Column.Column<AccountStatus>> = [
  Column.name("CONNECTION", (account) => account.name),
  Column.text("PROVIDER", (account) => account.provider, { fit: "keep" }),
  Column.text("STATE", (account) => account.testStatus),
  Column.text("USABLE IN", ({ remainingMs }) => (remainingMs === null ? "until cleared" : span(remainingMs))),
  Column.prose("ERROR", ({ errorCode, lastError }) => lastError ?? errorCode),
  Column.id("ID", (account) => account.connectionId)
]

export const lockoutColumns: ReadonlyArray<Column.Column<LockoutView>> = [
  Column.name("LOCKED MODEL", (lockout) => lockout.model),
  Column.text("PROVIDER", (lockout) => lockout.provider, { fit: "keep" }),
  Column.text("CONNECTION", (lockout) => lockout.connection ?? lockout.connectionId, { fit: "keep" }),
  Column.number("UNLOCKED IN", (lockout) => lockout.remainingMs, span),
  Column.number("FAILURES", (lockout) => lockout.failureCount),
  Column.prose("REASON", (lockout) => lockout.reason)
]

interface BreakerCounts {
  readonly closed: number
  readonly degraded: number
  readonly open: number
  readonly halfOpen: number
}

export const breakerWords = ({ closed, degraded, halfOpen, open }: BreakerCounts): string =>
  `${closed} closed, ${degraded} degraded, ${open} open, ${halfOpen} half open`

export const accountWords = ({ available, cooling, inactive, terminal }: AccountCounts): string =>
  `${available} available, ${cooling} cooling down, ${terminal} out until cleared, ${inactive} switched off`
