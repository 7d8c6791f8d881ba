/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const providerModels = subject("providerModels", {
  skill: "gw-models",
  handlers: "usual",
  routes: {
    list: manage("GET", "/api/provider-models"),
    create: manage("POST", "/api/provider-models"),
    update: manage("PATCH", "/api/provider-models"),
    remove: manage("DELETE", "/api/provider-models")
  }
})
