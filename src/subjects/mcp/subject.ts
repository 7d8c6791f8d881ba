/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const mcp = subject("mcp", {
  skill: "gw-mcp",
  routes: {
    status: manage("GET", "/api/mcp/status"),
    tools: manage("GET", "/api/mcp/tools"),
    audit: manage("GET", "/api/mcp/audit"),
    restart: manage("POST", "/api/mcp/restart")
  }
})
