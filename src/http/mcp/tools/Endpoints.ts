/** The tools that are endpoints, by what they are about. */
import type { EndpointTool } from "../EndpointTool.ts"

export const endpointTools: ReadonlyArray<EndpointTool> = [
  { name: "get_health", endpoint: "system.health", scopes: ["read:health"], effect: "read" },
  {
    name: "list_combos",
    endpoint: "combos.list",
    scopes: ["read:combos"],
    effect: "read",
    defaults: { limit: 50 }
  },
  {
    name: "set_routing_strategy",
    endpoint: "combos.update",
    scopes: ["write:combos"],
    effect: "write",
    title: "Set the strategy of a combo",
    description: "Sets how a combo orders its targets. `config` replaces the settings of the strategy as a whole.",
    only: ["id", "strategy", "config"]
  }
]
