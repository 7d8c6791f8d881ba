/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const telemetry = subject("telemetry", {
  skill: "gw-usage-logs",
  routes: {
    summary: manage("GET", "/api/telemetry/summary"),
    sessions: manage("GET", "/api/sessions"),
    caches: manage("GET", "/api/cache/stats"),
    clearCaches: manage("DELETE", "/api/cache/stats")
  }
})
