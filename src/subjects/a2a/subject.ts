/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage, open } from "../../contract/tiers/Tiers.ts"

export const a2a = subject("a2a", {
  skill: "gw-agents-a2a",
  routes: {
    card: open("GET", "/.well-known/agent-card.json"),
    formerCard: open("GET", "/.well-known/agent.json"),
    status: manage("GET", "/api/a2a/status")
  }
})
