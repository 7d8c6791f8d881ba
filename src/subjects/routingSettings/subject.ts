/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const routingSettings = subject("routingSettings", {
  skill: "gw-combos-routing",
  handlers: "usual",
  routes: {
    get: manage("GET", "/api/settings/routing"),
    update: manage("PATCH", "/api/settings/routing")
  }
})
