/** Routes of this subject: paths, and who may call them. */
import { subject } from "../../contract/tiers/Subject.ts"
import { manage, open } from "../../contract/tiers/Tiers.ts"

export const agentSkills = subject("agentSkills", {
  skill: "gw-agents-a2a",
  routes: {
    list: open("GET", "/api/agent-skills"),
    coverage: open("GET", "/api/agent-skills/coverage"),
    get: open("GET", "/api/agent-skills/:id"),
    raw: open("GET", "/api/agent-skills/:id/raw"),
    file: open("GET", "/skills/:id/skill.md"),
    generate: manage("POST", "/api/agent-skills/generate")
  }
})
