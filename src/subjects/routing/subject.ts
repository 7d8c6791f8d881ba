/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const routing = subject("routing", {
  skill: "gw-combos-routing",
  handlers: "usual",
  routes: {
    explain: manage("POST", "/api/routing/explain"),
    simulate: manage("POST", "/api/routing/simulate"),
    replay: manage("POST", "/api/routing/replay"),
    decision: manage("GET", "/api/routing/decisions/:requestId")
  }
})
