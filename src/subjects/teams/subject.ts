/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const teams = subject("teams", {
  skill: "gw-api-keys",
  routes: {
    list: manage("GET", "/api/teams", "readTeams"),
    create: manage("POST", "/api/teams", "changeTeams"),
    get: manage("GET", "/api/teams/:id", "readTeams"),
    update: manage("PUT", "/api/teams/:id", "changeTeams"),
    remove: manage("DELETE", "/api/teams/:id", "changeTeams"),
    content: manage("POST", "/api/teams/:id/content/:requestId", "readContent")
  }
})
