/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const usageHistory = subject("usageHistory", {
  skill: "gw-usage-logs",
  routes: {
    history: manage("GET", "/api/usage/history"),
    analytics: manage("GET", "/api/usage/analytics", "readFigures"),
    breakdown: manage("GET", "/api/usage/breakdown", "readFigures"),
    calls: manage("GET", "/api/usage/calls"),
    reconcile: manage("POST", "/api/usage/reconcile"),
    export: manage("GET", "/api/usage/export"),
    purge: manage("POST", "/api/settings/purge-request-history")
  }
})
