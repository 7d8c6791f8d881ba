/** The states of providers, connections and models as callers see them. Pure; times in are epoch milliseconds, times out ISO 8601. */
import type { AccountStatus } from "../rateLimits/routes.ts"
import type { BreakerView, LockoutView } from "./routes.ts"
import type { AccountState, NamedLockout } from "./service.ts"
import type * as Breakers from "../../plane/resilience/breaker/Breakers.ts"
import { healthView, iso, isoOrNull } from "../../entry/handling/Views.ts"

export const breakerView = ({ openedAtMs, ...breaker }: Breakers.BreakerView): BreakerView => ({
  ...breaker,
  openedAt: isoOrNull(openedAtMs)
})

export const lockoutView = ({ lockedAtMs, untilMs, ...lockout }: NamedLockout): LockoutView => ({
  ...lockout,
  lockedAt: iso(lockedAtMs),
  expiresAt: iso(untilMs),
  untilMs,
  until: untilMs
})

export const accountStatus = ({ connection, health, inUse, remainingMs, waiting }: AccountState): AccountStatus => ({
  connectionId: connection.id,
  provider: connection.provider,
  name: connection.name,
  isActive: connection.isActive,
  ...healthView(health),
  remainingMs,
  maxConcurrent: connection.maxConcurrent,
  inUse,
  waiting
})
