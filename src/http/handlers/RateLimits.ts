/** `/api/rate-limits` and `/api/rate-limit`: the state of every account, and the settings common to all. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { Catalog } from "../../providers/Catalog.ts"
import { ConcurrencyGate } from "../../resilience/ConcurrencyGate.ts"
import { Cooldowns } from "../../resilience/cooldown/Cooldowns.ts"
import { Lockouts } from "../../resilience/lockout/Lockouts.ts"
import { Settings } from "../../resilience/Settings.ts"
import { accountStatus, countStandings, locksNow, lockoutView, standingOf } from "./ResilienceViews.ts"

export const layer = HttpApiBuilder.group(GatewayApi, "rateLimits", (handlers) =>
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const settings = yield* Settings
    const cooldowns = yield* Cooldowns
    const lockouts = yield* Lockouts
    const gate = yield* ConcurrencyGate

    const status = (nowMs: number) => {
      const { connections } = catalog.current()
      const byId = new Map(connections.map((connection) => [connection.id, connection]))
      return {
        connections: connections.map((connection) => {
          const { id } = connection
          const places = { inUse: gate.inUse(id), waiting: gate.waiting(id) }
          return accountStatus(connection, cooldowns.healthOf(id), places, nowMs)
        }),
        overview: countStandings(
          connections.map(({ id, isActive }) => standingOf(isActive, cooldowns.healthOf(id), nowMs))
        ),
        lockouts: locksNow(lockouts, nowMs).map((lockout) => lockoutView(lockout, byId))
      }
    }
    return handlers
      .handle("status", () => Effect.map(Clock.currentTimeMillis, status))
      .handle("settings", () => Effect.sync(settings.current))
  })
)
