/** The states of providers, connections and models as callers see them. Pure; times in are epoch milliseconds, times out ISO 8601. */
import type * as Context from "effect/Context"
import type { AccountCounts, AccountStatus } from "../../api/Groups/RateLimits.ts"
import type { BreakerView, LockoutView } from "../../api/Groups/Resilience.ts"
import type { Connection, ConnectionHealth } from "../../domain/Connection.ts"
import type { ProviderClass } from "../../domain/Provider.ts"
import type { CatalogSnapshot } from "../../providers/Catalog.ts"
import { guardedOf } from "../../routing/AccountClass.ts"
import type * as Breakers from "../../resilience/breaker/Breakers.ts"
import * as Cooldown from "../../resilience/cooldown/Cooldown.ts"
import type * as Lockouts from "../../resilience/lockout/Lockouts.ts"
import { healthAt, healthView, iso, isoOrNull } from "./Views.ts"

/** As its first account has it. A provider that nobody knows any more is held to the usual profile. */
export const classOf =
  (catalog: CatalogSnapshot) =>
  (provider: string): ProviderClass => {
    const account = catalog.byProvider.get(provider)?.[0]
    return account === undefined ? (catalog.provider(provider)?.class ?? "apikey") : guardedOf(account).class
  }

const atRest = (provider: string, providerClass: ProviderClass): BreakerView => ({
  provider,
  class: providerClass,
  state: "CLOSED",
  failures: 0,
  openedAt: null,
  retryAfterMs: null
})

const breakerView = ({ openedAtMs, ...breaker }: Breakers.BreakerView): BreakerView => ({
  ...breaker,
  openedAt: isoOrNull(openedAtMs)
})

/** The breakers of all connected providers and whatever others are not at rest, by provider id. */
export const breakerViews = (
  catalog: CatalogSnapshot,
  moved: ReadonlyArray<Breakers.BreakerView>
): ReadonlyArray<BreakerView> => {
  const views = new Map<string, BreakerView>()
  for (const connection of catalog.connections) {
    const spec = catalog.provider(connection.provider)
    if (spec !== null) views.set(spec.id, atRest(spec.id, classOf(catalog)(spec.id)))
  }
  for (const breaker of moved) views.set(breaker.provider, breakerView(breaker))
  return [...views.values()].toSorted((a, b) => (a.provider < b.provider ? -1 : 1))
}

/** The locks in force, the longest first: none while lockouts are switched off. */
export const locksNow = (
  lockouts: Context.Tag.Service<Lockouts.Lockouts>,
  nowMs: number
): ReadonlyArray<Lockouts.LockoutView> => lockouts.list(nowMs).filter((lock) => lockouts.waitMs(lock, nowMs) > 0)

export const lockoutView = (
  { lockedAtMs, untilMs, ...lockout }: Lockouts.LockoutView,
  connections: ReadonlyMap<string, Connection>
): LockoutView => ({
  ...lockout,
  connection: connections.get(lockout.connectionId)?.name ?? null,
  lockedAt: iso(lockedAtMs),
  expiresAt: iso(untilMs),
  until: untilMs
})

/** What can be done with a connection now. */
export type Standing = "available" | "cooling" | "terminal" | "inactive"

/** Switched off goes before everything else: nothing is asked of such a connection. */
export const standingOf = (isActive: boolean, health: ConnectionHealth, nowMs: number): Standing => {
  if (!isActive) return "inactive"
  const waitMs = Cooldown.waitMs(health, nowMs)
  if (waitMs === null) return "terminal"
  return waitMs > 0 ? "cooling" : "available"
}

export const countStandings = (standings: ReadonlyArray<Standing>): AccountCounts => {
  const counts = { total: standings.length, available: 0, cooling: 0, terminal: 0, inactive: 0 }
  for (const standing of standings) counts[standing] += 1
  return counts
}

/** Requests at a connection: those it works on, and those in line for a place. */
export interface Places {
  readonly inUse: number
  readonly waiting: number
}

export const accountStatus = (
  { id, isActive, maxConcurrent, name, provider }: Connection,
  health: ConnectionHealth,
  { inUse, waiting }: Places,
  nowMs: number
): AccountStatus => ({
  connectionId: id,
  provider,
  name,
  isActive,
  ...healthView(healthAt(health, nowMs)),
  remainingMs: Cooldown.waitMs(health, nowMs),
  maxConcurrent,
  inUse,
  waiting
})
