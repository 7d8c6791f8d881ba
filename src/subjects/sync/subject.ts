/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const sync = subject("sync", {
  skill: "gw-sync-cloud",
  handlers: "traffic",
  routes: {
    status: manage("GET", "/api/sync/cloud"),
    act: manage("POST", "/api/sync/cloud", "replace"),
    bundle: manage("GET", "/api/sync/bundle"),
    initialize: manage("POST", "/api/sync/initialize", "replace")
  }
})
