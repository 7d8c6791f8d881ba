/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const quotaGroups = subject("quotaGroups", {
  skill: "gw-combos-routing",
  routes: {
    list: manage("GET", "/api/quota/groups"),
    create: manage("POST", "/api/quota/groups"),
    get: manage("GET", "/api/quota/groups/:id"),
    update: manage("PUT", "/api/quota/groups/:id"),
    remove: manage("DELETE", "/api/quota/groups/:id")
  }
})
