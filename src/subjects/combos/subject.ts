/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const combos = subject("combos", {
  skill: "gw-combos-routing",
  handlers: "usual",
  routes: {
    list: manage("GET", "/api/combos"),
    create: manage("POST", "/api/combos"),
    auto: manage("GET", "/api/combos/auto"),
    get: manage("GET", "/api/combos/:id"),
    update: manage("PUT", "/api/combos/:id"),
    remove: manage("DELETE", "/api/combos/:id")
  }
})
