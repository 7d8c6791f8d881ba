/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const policies = subject("policies", {
  skill: "gw-auth",
  handlers: "usual",
  routes: {
    get: manage("GET", "/api/policies"),
    act: manage("POST", "/api/policies"),
    clear: manage("DELETE", "/api/policies")
  }
})
