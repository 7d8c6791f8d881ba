/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const guardrails = subject("guardrails", {
  skill: "gw-settings",
  routes: {
    get: manage("GET", "/api/settings/guardrails"),
    set: manage("PUT", "/api/settings/guardrails"),
    test: manage("POST", "/api/guardrails/test")
  }
})
