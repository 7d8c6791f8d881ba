/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const cluster = subject("cluster", {
  skill: "gw-version-manager",
  routes: {
    get: manage("GET", "/api/cluster"),
    forget: manage("DELETE", "/api/cluster/nodes/:name")
  }
})
