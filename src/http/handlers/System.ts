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

export const layer = HttpApiBuilder.group(GatewayApi, "system", (handlers) =>
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const startedMs = yield* Clock.currentTimeMillis
    const uptimeMs = Effect.map(Clock.currentTimeMillis, (nowMs) => nowMs - startedMs)
    return handlers
      .handle("ping", () => Effect.map(uptimeMs, (uptime) => ({ status: "ok" as const, version, uptimeMs: uptime })))
      .handle("health", () =>
        Effect.map(uptimeMs, (uptime) => {
          const { accounts, connections, nodes } = catalog.current()
          return {
            status: "ok" as const,
            version,
            uptimeMs: uptime,
            catalogCount: Registry.registry.size + nodes.length,
            configuredCount: connections.length,
            activeCount: accounts.length,
            monitoredCount: connections.filter((connection) => connection.testStatus !== "unknown").length
          }
        })
      )
      .handle("openapi", () =>
        Effect.sync(() => HttpServerResponse.text(openApiJson(), { contentType: "application/json" }))
      )
  })
)
