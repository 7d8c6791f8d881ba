/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const keys = subject("keys", {
  skill: "gw-api-keys",
  handlers: "usual",
  routes: {
    list: manage("GET", "/api/keys", "readKeys"),
    create: manage("POST", "/api/keys", "giveKeys"),
    get: manage("GET", "/api/keys/:id", "readKeys"),
    update: manage("PUT", "/api/keys/:id", "giveKeys"),
    patch: manage("PATCH", "/api/keys/:id", "giveKeys"),
    rotate: manage("POST", "/api/keys/:id/rotate", "renewKeys"),
    remove: manage("DELETE", "/api/keys/:id", "giveKeys")
  }
})
