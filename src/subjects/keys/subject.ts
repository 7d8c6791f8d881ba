/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const keys = subject("keys", {
  skill: "gw-api-keys",
  handlers: "usual",
  routes: {
    list: manage("GET", "/api/keys"),
    create: manage("POST", "/api/keys"),
    get: manage("GET", "/api/keys/:id"),
    update: manage("PUT", "/api/keys/:id"),
    patch: manage("PATCH", "/api/keys/:id"),
    rotate: manage("POST", "/api/keys/:id/rotate"),
    remove: manage("DELETE", "/api/keys/:id")
  }
})
