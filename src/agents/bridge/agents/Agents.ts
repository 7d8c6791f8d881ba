/** The nine agents of the bridge, as data. */
import type { Agent, AgentModel } from "./Agent.ts"

const model = (id: string, name: string, alias: string): AgentModel => ({ id, name, alias })

const trustsSystem = "Trust the gateway's certificate authority: gateway capture cert trust."
const trustsNode =
  "Let the program trust the gateway's certificate authority: gateway capture cert show > gateway-ca.pem, and set NODE_EXTRA_CA_CERTS to the path of that file."
const leads = (id: string): string => `Lead its hosts to this machine: gateway capture bridge enable ${id}.`
const maps = "Map the models that are to be answered here; all others go on to the vendor."
const restart = "Start the program anew."

const throughNode = (id: string): ReadonlyArray<string> => [trustsNode, leads(id), maps, restart]
const throughSystem = (id: string): ReadonlyArray<string> => [trustsSystem, leads(id), maps, restart]
const readOnly = (id: string): ReadonlyArray<string> => [trustsSystem, leads(id), restart]

const plainBodies =
  "Where the gateway runs on a Node before 22.15, let Codex send its requests as they are: enable_request_compression = false under [features] of its config.toml."

const ownKey =
  "Requests that are mapped leave the vendor's plan and are billed by the provider that answers them. The vendor's terms may forbid other models in its program."
const subscription =
  "The program signs in with a subscription. Reading or answering its requests may be against the vendor's terms, and the vendor may notice."

export const agents: ReadonlyArray<Agent> = [
  {
    id: "antigravity",
    name: "Antigravity",
    hosts: [
      "daily-cloudcode-pa.googleapis.com",
      "cloudcode-pa.googleapis.com",
      "daily-cloudcode-pa.sandbox.googleapis.com",
      "autopush-cloudcode-pa.sandbox.googleapis.com"
    ],
    port: 443,
    endpointPatterns: ["/v1internal:generateContent", "/v1internal:streamGenerateContent"],
    wire: "gemini",
    wrapper: "cloudcode",
    defaultModels: [
      model("gemini-3-pro-high", "Gemini 3 Pro (high)", "pro"),
      model("gemini-3-flash", "Gemini 3 Flash", "flash"),
      model("claude-sonnet-4-5", "Claude Sonnet 4.5", "sonnet")
    ],
    viability: "recorded",
    riskNotice: subscription,
    setup: { steps: throughSystem("antigravity"), binary: "antigravity" }
  },
  {
    id: "kiro",
    name: "Kiro",
    hosts: ["q.us-east-1.amazonaws.com", "codewhisperer.us-east-1.amazonaws.com"],
    port: 443,
    endpointPatterns: ["/generateAssistantResponse", "/"],
    wire: null,
    wrapper: null,
    defaultModels: [model("claude-sonnet-4.5", "Claude Sonnet 4.5", "sonnet")],
    viability: "investigating",
    riskNotice: subscription,
    setup: { steps: readOnly("kiro"), binary: "kiro" }
  },
  {
    id: "copilot",
    name: "GitHub Copilot",
    hosts: ["api.githubcopilot.com", "copilot-proxy.githubusercontent.com"],
    port: 443,
    endpointPatterns: ["/chat/completions", "/responses", "/v1/messages", "/v1/engines/*/completions"],
    wire: "chat",
    wrapper: null,
    defaultModels: [
      model("gpt-5", "GPT-5", "gpt"),
      model("gpt-4.1", "GPT-4.1", "gpt-4.1"),
      model("claude-sonnet-4.5", "Claude Sonnet 4.5", "sonnet")
    ],
    viability: "recorded",
    riskNotice: subscription,
    setup: { steps: throughSystem("copilot"), binary: "copilot" }
  },
  {
    id: "codex",
    name: "Codex",
    hosts: ["chatgpt.com"],
    port: 443,
    endpointPatterns: ["/backend-api/codex/responses"],
    wire: "responses",
    wrapper: null,
    defaultModels: [model("gpt-5-codex", "GPT-5 Codex", "codex"), model("gpt-5", "GPT-5", "gpt")],
    viability: "routed",
    riskNotice: subscription,
    setup: { steps: [...throughSystem("codex"), plainBodies], binary: "codex" }
  },
  {
    id: "cursor",
    name: "Cursor",
    hosts: ["api2.cursor.sh"],
    port: 443,
    endpointPatterns: ["/aiserver.v1.*"],
    wire: null,
    wrapper: null,
    defaultModels: [],
    viability: "investigating",
    riskNotice: subscription,
    setup: { steps: readOnly("cursor"), binary: "cursor" }
  },
  {
    id: "zed",
    name: "Zed",
    hosts: ["api.zed.dev"],
    port: 443,
    endpointPatterns: ["/completions"],
    wire: null,
    wrapper: null,
    defaultModels: [],
    viability: "investigating",
    riskNotice: subscription,
    setup: { steps: readOnly("zed"), binary: "zed" }
  },
  {
    id: "claude-code",
    name: "Claude Code",
    hosts: ["api.anthropic.com"],
    port: 443,
    endpointPatterns: ["/v1/messages", "/v1/messages/count_tokens"],
    wire: "messages",
    wrapper: null,
    defaultModels: [
      model("claude-opus-4-5*", "Claude Opus 4.5", "opus"),
      model("claude-sonnet-4-5*", "Claude Sonnet 4.5", "sonnet"),
      model("claude-haiku-4-5*", "Claude Haiku 4.5", "haiku")
    ],
    viability: "routed",
    riskNotice: ownKey,
    setup: { steps: throughNode("claude-code"), binary: "claude" }
  },
  {
    id: "open-code",
    name: "OpenCode",
    hosts: ["opencode.ai"],
    port: 443,
    endpointPatterns: ["/zen/v1/chat/completions", "/zen/v1/messages", "/zen/v1/responses"],
    wire: "chat",
    wrapper: null,
    defaultModels: [
      model("big-pickle", "Big Pickle", "pickle"),
      model("grok-code", "Grok Code", "grok"),
      model("claude-sonnet-4-5", "Claude Sonnet 4.5", "sonnet")
    ],
    viability: "routed",
    riskNotice: ownKey,
    setup: { steps: throughNode("open-code"), binary: "opencode" }
  },
  {
    id: "trae",
    name: "Trae",
    hosts: ["api.trae.ai"],
    port: 443,
    endpointPatterns: [],
    wire: null,
    wrapper: null,
    defaultModels: [],
    viability: "investigating",
    riskNotice: subscription,
    setup: { steps: readOnly("trae"), binary: "trae" }
  }
]

export const agentById: ReadonlyMap<string, Agent> = new Map(agents.map((agent) => [agent.id, agent]))

/** Agents by host, in lower case. No host has two. */
export const agentByHost: ReadonlyMap<string, Agent> = new Map(
  agents.flatMap((agent) => agent.hosts.map((host) => [host, agent] as const))
)
