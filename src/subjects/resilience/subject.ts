/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage } from "../../contract/tiers/Tiers.ts"

export const resilience = subject("resilience", {
  skill: "gw-resilience",
  handlers: "usual",
  routes: {
    get: manage("GET", "/api/resilience"),
    update: manage("PATCH", "/api/resilience"),
    breakers: manage("GET", "/api/resilience/breakers"),
    reset: manage("POST", "/api/resilience/reset"),
    modelCooldowns: manage("GET", "/api/resilience/model-cooldowns"),
    clearModelCooldowns: manage("DELETE", "/api/resilience/model-cooldowns"),
    clearCooldowns: manage("DELETE", "/api/resilience/cooldowns")
  }
})
