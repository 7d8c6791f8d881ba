/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const configuration = subject("configuration", {
  skill: "gw-settings",
  routes: {
    apply: manage("POST", "/api/configuration/apply")
  }
})
