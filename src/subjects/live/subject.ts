/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const live = subject("live", {
  skill: "gw-usage-logs",
  handlers: "usual",
  routes: {
    describe: manage("GET", "/api/live"),
    running: manage("GET", "/api/requests/running")
  }
})
