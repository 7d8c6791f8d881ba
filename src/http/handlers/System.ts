/** Health and `/openapi.json`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { openApiJson } from "../../api/OpenApiDocument.ts"
import { version } from "../../platform/Version.ts"
import { Catalog } from "../../providers/Catalog.ts"
import * as Registry from "../../providers/Registry.ts"
import { Breakers } from "../../resilience/breaker/Breakers.ts"
import { Cooldowns } from "../../resilience/cooldown/Cooldowns.ts"
import { UsageJournal } from "../../store/UsageJournal.ts"
import { breakerViews, classOf, countStandings, standingOf } from "./ResilienceViews.ts"
import { healthAt } from "./Views.ts"

export const layer = HttpApiBuilder.group(GatewayApi, "system", (handlers) =>
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const startedMs = yield* Clock.currentTimeMillis
    const uptimeMs = Effect.map(Clock.currentTimeMillis, (nowMs) => nowMs - startedMs)
    const breakers = yield* Breakers
    const cooldowns = yield* Cooldowns
    const journal = yield* UsageJournal

    const healthNow = (nowMs: number) => {
      const snapshot = catalog.current()
      const { accounts, byProvider, connections, nodes } = snapshot
      const views = breakerViews(snapshot, breakers.list(nowMs, classOf(snapshot)))
      const inState = (state: (typeof views)[number]["state"]): number =>
        views.filter((breaker) => breaker.state === state).length
      const known = connections.map(({ id, isActive }) => ({ isActive, health: cooldowns.healthOf(id) }))
      const counts = countStandings(known.map(({ health, isActive }) => standingOf(isActive, health, nowMs)))
      const isBlocked = views.some(({ provider, state }) => state === "OPEN" && byProvider.has(provider))
      const isStranded = counts.available === 0 && counts.inactive < counts.total
      const { dropped, notOnFile, problem } = journal.trouble()
      return {
        status: isBlocked || isStranded || problem !== null ? ("degraded" as const) : ("ok" as const),
        version,
        uptimeMs: nowMs - startedMs,
        catalogCount: Registry.registry.size + nodes.length,
        configuredCount: connections.length,
        activeCount: accounts.length,
        monitoredCount: known.filter(({ health }) => healthAt(health, nowMs).testStatus !== "unknown").length,
        breakers: {
          closed: inState("CLOSED"),
          degraded: inState("DEGRADED"),
          open: inState("OPEN"),
          halfOpen: inState("HALF_OPEN")
        },
        connections: counts,
        usageLog: { problem, waitingRows: journal.pending(), rowsNotOnFile: notOnFile, rowsDropped: dropped }
      }
    }
    return handlers
      .handle("ping", () => Effect.map(uptimeMs, (uptime) => ({ status: "ok" as const, version, uptimeMs: uptime })))
      .handle("health", () => Effect.map(Clock.currentTimeMillis, healthNow))
      .handle("openapi", () =>
        Effect.sync(() => HttpServerResponse.text(openApiJson(), { contentType: "application/json" }))
      )
  })
)
