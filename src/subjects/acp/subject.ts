/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const acp = subject("acp", {
  skill: "gw-agents-a2a",
  routes: {
    list: manage("GET", "/api/acp/agents"),
    change: manage("POST", "/api/acp/agents"),
    remove: manage("DELETE", "/api/acp/agents")
  }
})
