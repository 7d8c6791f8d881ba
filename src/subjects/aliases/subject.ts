/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const modelAliases = subject("modelAliases", {
  skill: "gw-models",
  handlers: "usual",
  routes: {
    list: manage("GET", "/api/models/alias"),
    set: manage("POST", "/api/models/alias"),
    remove: manage("DELETE", "/api/models/alias")
  }
})
