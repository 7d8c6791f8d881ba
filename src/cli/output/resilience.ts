/** How the states of providers, connections and models are listed. */
import type { AccountCounts, AccountStatus } from "../../api/Groups/RateLimits.ts"
import type { BreakerView, LockoutView } from "../../api/Groups/Resilience.ts"
import { orDash } from "./Output.ts"
import type { Column } from "./Table.ts"

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

export const breakerColumns: ReadonlyArray<Column<BreakerView>> = [
  { header: "PROVIDER", value: (breaker) => breaker.provider },
  { header: "CLASS", value: (breaker) => breaker.class },
  { header: "BREAKER", value: (breaker) => breaker.state },
  { header: "FAILURES", value: (breaker) => String(breaker.failures), align: "right" },
  { header: "TRIED AGAIN IN", value: ({ retryAfterMs }) => (retryAfterMs === null ? "-" : span(retryAfterMs)) }
]

export const accountColumns: ReadonlyArray<Column<AccountStatus>> = [
  { header: "PROVIDER", value: (account) => account.provider },
  { header: "CONNECTION", value: (account) => account.name },
  { header: "STATE", value: (account) => account.testStatus },
  {
    header: "USABLE IN",
    value: ({ remainingMs }) => (remainingMs === null ? "until cleared" : span(remainingMs))
  },
  { header: "ERROR", value: ({ errorCode, lastError }) => orDash(lastError ?? errorCode) },
  { header: "ID", value: (account) => account.connectionId }
]

export const lockoutColumns: ReadonlyArray<Column<LockoutView>> = [
  { header: "PROVIDER", value: (lockout) => lockout.provider },
  { header: "CONNECTION", value: (lockout) => lockout.connection ?? lockout.connectionId },
  { header: "LOCKED MODEL", value: (lockout) => lockout.model },
  { header: "UNLOCKED IN", value: (lockout) => span(lockout.remainingMs) },
  { header: "FAILURES", value: (lockout) => String(lockout.failureCount), align: "right" },
  { header: "REASON", value: (lockout) => lockout.reason }
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
