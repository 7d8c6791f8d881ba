/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const audit = subject("audit", {
  skill: "gw-usage-logs",
  routes: {
    list: manage("GET", "/api/compliance/audit-log")
  }
})
