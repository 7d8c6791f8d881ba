/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const issueLimits = subject("issueLimits", {
  skill: "gw-api-keys",
  routes: {
    provider: manage("GET", "/api/v1/providers/:provider/limits"),
    setProvider: manage("PUT", "/api/v1/providers/:provider/limits"),
    removeProvider: manage("DELETE", "/api/v1/providers/:provider/limits"),
    account: manage("GET", "/api/v1/accounts/:id/limits"),
    setAccount: manage("PUT", "/api/v1/accounts/:id/limits"),
    removeAccount: manage("DELETE", "/api/v1/accounts/:id/limits")
  }
})
