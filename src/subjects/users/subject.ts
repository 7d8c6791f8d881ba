/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const users = subject("users", {
  skill: "gw-api-keys",
  routes: {
    list: manage("GET", "/api/users"),
    create: manage("POST", "/api/users"),
    get: manage("GET", "/api/users/:id"),
    update: manage("PUT", "/api/users/:id"),
    remove: manage("DELETE", "/api/users/:id")
  }
})
