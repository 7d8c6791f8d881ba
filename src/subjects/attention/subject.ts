/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const attention = subject("attention", {
  skill: "gw-version-manager",
  routes: { list: manage("GET", "/api/attention") }
})
