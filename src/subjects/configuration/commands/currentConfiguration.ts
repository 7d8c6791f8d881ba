/** Reads the gateway's present configuration. */
import * as Effect from "effect/Effect"
import { presentOf } from "../../declared/CurrentState.ts"
import { isArray, objectOr, stringOr } from "../../declared/Values.ts"
import type * as Client from "../../../cli/gateway/Client.ts"
import { manage } from "../../../cli/gateway/Management.ts"

export const present = (to: Client.Target) =>
  Effect.gen(function* () {
    const plugins = yield* manage(to, "GET", "/api/plugins")
    const names = (isArray(plugins["plugins"]) ? plugins["plugins"] : []).flatMap(
      (plugin) => stringOr(objectOr(plugin)["name"]) ?? []
    )
    const pluginConfigs = Object.fromEntries(
      yield* Effect.forEach(names, (name) =>
        Effect.map(
          manage(to, "GET", `/api/plugins/${encodeURIComponent(name)}/config`),
          (config) => [name, config] as const
        )
      )
    )
    const answers = yield* Effect.all({
      nodes: manage(to, "GET", "/api/provider-nodes"),
      connections: manage(to, "GET", "/api/providers"),
      combos: manage(to, "GET", "/api/combos"),
      aliases: manage(to, "GET", "/api/models/alias"),
      prices: manage(to, "GET", "/api/pricing"),
      keys: manage(to, "GET", "/api/keys"),
      mcpServers: manage(to, "GET", "/api/mcp/servers"),
      models: manage(to, "GET", "/api/provider-models"),
      quotaGroups: manage(to, "GET", "/api/quota/groups"),
      budgets: manage(to, "GET", "/api/usage/budget"),
      tokenLimits: manage(to, "GET", "/api/usage/token-limits"),
      proxies: manage(to, "GET", "/api/v1/management/proxies"),
      proxyAssignments: manage(to, "GET", "/api/v1/management/proxies/assignments"),
      webhooks: manage(to, "GET", "/api/webhooks"),
      resilience: manage(to, "GET", "/api/resilience"),
      settings: manage(to, "GET", "/api/settings")
    })
    return presentOf({ ...answers, plugins, pluginConfigs })
  })
