/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const providers = subject("providers", {
  skill: "gw-providers",
  handlers: "usual",
  routes: {
    list: manage("GET", "/api/providers"),
    create: manage("POST", "/api/providers"),
    validate: manage("POST", "/api/providers/validate"),
    get: manage("GET", "/api/providers/:id"),
    update: manage("PUT", "/api/providers/:id"),
    remove: manage("DELETE", "/api/providers/:id"),
    test: manage("POST", "/api/providers/:id/test"),
    models: manage("GET", "/api/providers/:id/models")
  }
})
