/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const pricing = subject("pricing", {
  skill: "gw-models",
  handlers: "usual",
  routes: {
    get: manage("GET", "/api/pricing"),
    update: manage("PATCH", "/api/pricing"),
    reset: manage("DELETE", "/api/pricing")
  }
})
