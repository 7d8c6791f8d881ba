/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { session } from "../../contract/tiers/Tiers.ts"

export const flags = subject("flags", {
  skill: "gw-settings",
  handlers: "usual",
  routes: {
    list: session("GET", "/api/settings/feature-flags"),
    set: session("PUT", "/api/settings/feature-flags"),
    clear: session("DELETE", "/api/settings/feature-flags")
  }
})
