/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const registeredKeys = subject("registeredKeys", {
  skill: "gw-api-keys",
  routes: {
    check: manage("GET", "/v1/quotas/check"),
    register: manage("POST", "/api/v1/registered-keys"),
    list: manage("GET", "/api/v1/registered-keys"),
    get: manage("GET", "/api/v1/registered-keys/:id"),
    revoke: manage("POST", "/api/v1/registered-keys/:id/revoke"),
    remove: manage("DELETE", "/api/v1/registered-keys/:id")
  }
})
