/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const mcpServers = subject("mcpServers", {
  skill: "gw-mcp",
  routes: {
    list: manage("GET", "/api/mcp/servers"),
    create: manage("POST", "/api/mcp/servers"),
    get: manage("GET", "/api/mcp/servers/:id"),
    update: manage("PATCH", "/api/mcp/servers/:id"),
    remove: manage("DELETE", "/api/mcp/servers/:id"),
    test: manage("POST", "/api/mcp/servers/:id/test")
  }
})
