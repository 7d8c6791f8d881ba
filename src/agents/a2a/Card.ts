/**
 * The card by which other agents find this one. It has the fields of A2A 0.3 and those of 1.0, so that clients of both find what they look for,
 * and `authentication`, which the first drafts had. Pure.
 * https://a2a-protocol.org/v0.3.0/specification/#5-agent-discovery-the-agent-card and https://a2a-protocol.org/v1.0.0/specification/
 */
import { version } from "../../platform/Version.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { agentSkills } from "./SkillIds.ts"

const modes = ["text/plain"]
const answers = ["text/markdown", "text/plain"]

/** `origin` is the address that was asked. */
export const agentCard = (origin: string): JsonObject => {
  const url = `${origin}/a2a`
  return {
    protocolVersion: "0.3.0",
    name: "Gateway",
    description:
      "Gateway between AI clients and AI providers: routes requests to the model that suits them, and reports on providers, quotas, costs and health.",
    url,
    preferredTransport: "JSONRPC",
    supportedInterfaces: [
      { url, protocolBinding: "JSONRPC", protocolVersion: "1.0" },
      { url, protocolBinding: "JSONRPC", protocolVersion: "0.3" }
    ],
    version,
    documentationUrl: `${origin}/skills/gw-agents-a2a/SKILL.md`,
    capabilities: { streaming: true, pushNotifications: false, stateTransitionHistory: false },
    defaultInputModes: modes,
    defaultOutputModes: answers,
    skills: agentSkills.map(({ description, examples, id, name, tags }) => ({
      id,
      name,
      description,
      tags: [...tags],
      examples: [...examples],
      inputModes: modes,
      outputModes: answers
    })),
    securitySchemes: {
      apiKey: {
        type: "http",
        scheme: "bearer",
        description: "An API key of the gateway.",
        httpAuthSecurityScheme: { scheme: "Bearer", description: "An API key of the gateway." }
      }
    },
    security: [{ apiKey: [] }],
    securityRequirements: [{ schemes: { apiKey: { list: [] } } }],
    authentication: { schemes: ["api-key"], apiKeyHeader: "Authorization" }
  }
}
