/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const issueReports = subject("issueReports", {
  skill: "gw-version-manager",
  routes: {
    report: manage("POST", "/v1/issues/report")
  }
})
