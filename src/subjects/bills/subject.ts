/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const bills = subject("bills", {
  skill: "gw-usage-logs",
  routes: {
    show: manage("GET", "/api/bills", "readFigures"),
    csv: manage("GET", "/api/bills/csv", "readFigures"),
    closed: manage("GET", "/api/bills/closed"),
    close: manage("POST", "/api/bills/close")
  }
})
