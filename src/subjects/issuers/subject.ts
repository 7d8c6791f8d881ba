/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const issuers = subject("issuers", {
  skill: "gw-auth",
  routes: {
    list: manage("GET", "/api/issuers", "changeIssuers"),
    create: manage("POST", "/api/issuers", "changeIssuers"),
    get: manage("GET", "/api/issuers/:id", "changeIssuers"),
    update: manage("PUT", "/api/issuers/:id", "changeIssuers"),
    remove: manage("DELETE", "/api/issuers/:id", "changeIssuers"),
    test: manage("POST", "/api/issuers/:id/test", "changeIssuers")
  }
})
