/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const rateLimits = subject("rateLimits", {
  skill: "gw-resilience",
  handlers: "usual",
  routes: {
    status: manage("GET", "/api/rate-limits"),
    settings: manage("GET", "/api/rate-limit")
  }
})
