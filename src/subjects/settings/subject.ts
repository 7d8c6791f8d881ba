/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const gatewaySettings = subject("gatewaySettings", {
  skill: "gw-settings",
  handlers: "usual",
  routes: {
    get: manage("GET", "/api/settings"),
    update: manage("PATCH", "/api/settings"),
    put: manage("PUT", "/api/settings"),
    origins: manage("GET", "/api/settings/origins"),
    ipFilter: manage("GET", "/api/settings/ip-filter"),
    setIpFilter: manage("PUT", "/api/settings/ip-filter"),
    thinkingBudget: manage("GET", "/api/settings/thinking-budget"),
    setThinkingBudget: manage("PUT", "/api/settings/thinking-budget"),
    systemPrompt: manage("GET", "/api/settings/system-prompt"),
    setSystemPrompt: manage("PUT", "/api/settings/system-prompt"),
    requireLogin: manage("GET", "/api/settings/require-login"),
    setRequireLogin: manage("PUT", "/api/settings/require-login")
  }
})
