/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const providerNodes = subject("providerNodes", {
  skill: "gw-providers",
  handlers: "usual",
  routes: {
    list: manage("GET", "/api/provider-nodes"),
    create: manage("POST", "/api/provider-nodes"),
    get: manage("GET", "/api/provider-nodes/:id"),
    update: manage("PUT", "/api/provider-nodes/:id"),
    remove: manage("DELETE", "/api/provider-nodes/:id")
  }
})
