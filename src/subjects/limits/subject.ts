/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage, self } from "../../contract/tiers/Tiers.ts"

export const limits = subject("limits", {
  skill: "gw-budget",
  handlers: "usual",
  routes: {
    budget: manage("GET", "/api/usage/budget", "readLimits"),
    setBudget: manage("POST", "/api/usage/budget", "setLimits"),
    removeBudget: manage("DELETE", "/api/usage/budget", "setLimits"),
    tokenLimits: manage("GET", "/api/usage/token-limits", "readLimits"),
    setTokenLimit: manage("POST", "/api/usage/token-limits", "setLimits"),
    removeTokenLimit: manage("DELETE", "/api/usage/token-limits", "setLimits"),
    ledger: manage("GET", "/api/usage/ledger"),
    me: self("GET", "/api/usage/me")
  }
})
