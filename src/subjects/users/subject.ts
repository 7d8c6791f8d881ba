/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const users = subject("users", {
  skill: "gw-api-keys",
  routes: {
    list: manage("GET", "/api/users", "readPeople"),
    create: manage("POST", "/api/users", "changePeople"),
    get: manage("GET", "/api/users/:id", "readPeople"),
    update: manage("PUT", "/api/users/:id", "changePeople"),
    remove: manage("DELETE", "/api/users/:id", "changePeople"),
    export: manage("GET", "/api/users/:id/export", "readOwnData"),
    erase: manage("POST", "/api/users/:id/erase", "changePeople")
  }
})
