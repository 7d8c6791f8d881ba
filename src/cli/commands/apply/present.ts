/** What the gateway has now. */
import * as Effect from "effect/Effect"
import { presentOf } from "../../../declared/Present.ts"
import type * as Client from "../../gateway/Client.ts"
import { manage } from "../../gateway/Management.ts"

export const present = (to: Client.Target) =>
  Effect.map(
    Effect.all({
      nodes: manage(to, "GET", "/api/provider-nodes"),
      connections: manage(to, "GET", "/api/providers"),
      combos: manage(to, "GET", "/api/combos"),
      aliases: manage(to, "GET", "/api/models/alias"),
      prices: manage(to, "GET", "/api/pricing"),
      keys: manage(to, "GET", "/api/keys"),
      mcpServers: manage(to, "GET", "/api/mcp/servers"),
      settings: manage(to, "GET", "/api/settings")
    }),
    presentOf
  )
