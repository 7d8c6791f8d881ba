/** Present state of providers, connections and models. Pure; times are epoch milliseconds. */
import type { Connection, ConnectionHealth } from "./entity.ts"
import type { ProviderClass } from "../../contract/domain/Provider.ts"
import type { CatalogSnapshot } from "../../plane/providers/Catalog.ts"
import type { BreakerView } from "../../plane/resilience/breaker/Breakers.ts"
import * as Cooldown from "../../plane/resilience/cooldown/Cooldown.ts"
import type { Lockouts, LockoutView } from "../../plane/resilience/lockout/Lockouts.ts"
import { guardedOf } from "../../plane/routing/health/AccountClass.ts"

/** Health as it is now: a cooldown whose time has passed is over, what led to it stays to be read. */
export const healthAt = (health: ConnectionHealth, nowMs: number): ConnectionHealth => {
  const { rateLimitedUntilMs, testStatus } = health
  if (rateLimitedUntilMs !== null && rateLimitedUntilMs > nowMs && !Cooldown.isTerminal(testStatus)) return health
  return { ...health, rateLimitedUntilMs: null, testStatus: testStatus === "unavailable" ? "active" : testStatus }
}

/** State of a connection. */
export type Standing = "available" | "cooling" | "terminal" | "inactive"

/** A connection that is switched off is `inactive`, whatever else is known of it. */
export const standingOf = (
  { isActive }: Pick<Connection, "isActive">,
  health: ConnectionHealth,
  nowMs: number
): Standing => {
  if (!isActive) return "inactive"
  const waitMs = Cooldown.waitMs(health, nowMs)
  if (waitMs === null) return "terminal"
  return waitMs > 0 ? "cooling" : "available"
}

export type StandingCounts = Readonly<Record<Standing | "total", number>>

export const countStandings = (standings: ReadonlyArray<Standing>): StandingCounts => {
  const counts = { total: standings.length, available: 0, cooling: 0, terminal: 0, inactive: 0 }
  for (const standing of standings) counts[standing] += 1
  return counts
}

/** The class of a provider's first account. A provider that is gone has the class of most others. */
export const classOf =
  (catalog: CatalogSnapshot) =>
  (provider: string): ProviderClass => {
    const account = catalog.byProvider.get(provider)?.[0]
    return account === undefined ? (catalog.provider(provider)?.class ?? "apikey") : guardedOf(account).class
  }

const closed = (provider: string, providerClass: ProviderClass): BreakerView => ({
  provider,
  class: providerClass,
  state: "CLOSED",
  failures: 0,
  openedAtMs: null,
  retryAfterMs: null
})

/** The breakers of all connected providers, and all others that have counted something, by provider id. */
export const breakersOf = (
  catalog: CatalogSnapshot,
  counted: ReadonlyArray<BreakerView>
): ReadonlyArray<BreakerView> => {
  const classIn = classOf(catalog)
  const breakers = new Map<string, BreakerView>()
  for (const connection of catalog.connections) {
    const spec = catalog.provider(connection.provider)
    if (spec !== null) breakers.set(spec.id, closed(spec.id, classIn(spec.id)))
  }
  for (const breaker of counted) breakers.set(breaker.provider, breaker)
  return [...breakers.values()].toSorted((a, b) => (a.provider < b.provider ? -1 : 1))
}

/** The locks in force, the longest first. While lockouts are switched off only models without quota are locked. */
export const locksNow = (lockouts: typeof Lockouts.Service, nowMs: number): ReadonlyArray<LockoutView> =>
  lockouts.list(nowMs).filter((lock) => lockouts.waitMs(lock, nowMs) > 0)

/** Nothing is held against a connection, so that a reset would change nothing. */
export const isUntroubled = ({ backoffLevel, lastError, rateLimitedUntilMs, testStatus }: ConnectionHealth): boolean =>
  (testStatus === "unknown" || testStatus === "active") &&
  backoffLevel === 0 &&
  rateLimitedUntilMs === null &&
  lastError === null
