/** Skills of the gateway's agent for other agents. */
import { closest } from "../../kernel/text/Closest.ts"

export const agentSkillIds = [
  "smart-routing",
  "quota-management",
  "provider-discovery",
  "cost-analysis",
  "health-report",
  "list-capabilities"
] as const
export type AgentSkillId = (typeof agentSkillIds)[number]

export interface AgentSkill {
  readonly id: AgentSkillId
  readonly name: string
  readonly description: string
  readonly tags: ReadonlyArray<string>
  readonly examples: ReadonlyArray<string>
}

export const agentSkills: ReadonlyArray<AgentSkill> = [
  {
    id: "smart-routing",
    name: "Smart routing",
    description:
      "Answers a request with the model that suits it best, and says which one that was, why, what it cost and what failed before it.",
    tags: ["routing", "chat"],
    examples: ["Summarise this text in one sentence: …", "Write a regular expression for IPv4 addresses."]
  },
  {
    id: "quota-management",
    name: "Quota management",
    description: "Reports what is left of the accounts' quotas, and which accounts are held back and until when.",
    tags: ["quota", "limits"],
    examples: ["quota-management", "How much quota is left?"]
  },
  {
    id: "provider-discovery",
    name: "Provider discovery",
    description: "Lists the connected providers with their state and how many models they offer.",
    tags: ["providers", "models"],
    examples: ["provider-discovery", "Which providers are connected?"]
  },
  {
    id: "cost-analysis",
    name: "Cost analysis",
    description:
      "Reports what was used and what it cost in the last 30 days by provider and model; a key that does not manage the gateway gets its own use.",
    tags: ["cost", "usage"],
    examples: ["cost-analysis", "What did we spend this month?"]
  },
  {
    id: "health-report",
    name: "Health report",
    description: "Reports whether the gateway is well: connections, breakers, usage log.",
    tags: ["health", "resilience"],
    examples: ["health-report", "Is the gateway well?"]
  },
  {
    id: "list-capabilities",
    name: "List capabilities",
    description: "Lists the pages that tell how to use and operate the gateway, with their addresses.",
    tags: ["skills", "documentation"],
    examples: ["list-capabilities", "What can this gateway do?"]
  }
]

export const isAgentSkillId = (text: string): text is AgentSkillId =>
  (agentSkillIds as ReadonlyArray<string>).includes(text)

/** A skill's name may be first in a message; everything else is for a model to answer. */
export const skillOfText = (text: string): AgentSkillId => {
  const [first = ""] = text
    .trimStart()
    .slice(0, 64)
    .split(/[\s:,.!?]/, 1)
  return isAgentSkillId(first.toLowerCase()) ? (first.toLowerCase() as AgentSkillId) : "smart-routing"
}

export const unknownSkill = (name: string): string => {
  const [near] = closest(name.slice(0, 64), agentSkillIds, 1)
  return `There is no skill '${name.slice(0, 64)}'. ${near === undefined ? `There are ${agentSkillIds.join(", ")}.` : `Did you mean '${near}'?`}`
}
