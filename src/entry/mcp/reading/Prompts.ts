/** Questions that clients offer their users: each brings what is known here along with what is to be done. */
import * as Effect from "effect/Effect"
import type { ManagementKey } from "../../../contract/ManagementRoutes.ts"
import { usageRanges } from "../../../subjects/usageHistory/entity.ts"
import type { Prompt, PromptArgument } from "../../../agents/mcp/Prompt.ts"
import type { ToolCall } from "../../../agents/mcp/Tool.ts"
import type { JsonObject } from "../../../wire/json/Json.ts"
import type { Plane } from "../../management/Management.ts"
import type { Asking } from "../SchemaTool.ts"
import { jsonText, skillPage } from "./EndpointText.ts"
import { lastRequests, scheme } from "./Resources.ts"

const say = (text: string): JsonObject => ({ role: "user", content: { type: "text", text } })

const attach = (uri: string, mimeType: string, text: string): JsonObject => ({
  role: "user",
  content: { type: "resource", resource: { uri, mimeType, text } }
})

const argument = (name: string, description: string, more: Partial<PromptArgument> = {}): PromptArgument => ({
  name,
  description,
  isRequired: true,
  values: null,
  ...more
})

export const promptsOf = (ask: Plane["ask"], providers: ReadonlyArray<string>): ReadonlyArray<Prompt> => {
  const attached = (uri: string, key: ManagementKey, asking: Asking, call: ToolCall) =>
    Effect.map(jsonText(ask, key, asking, call), (text) => attach(scheme + uri, "application/json", text))
  const manual = (id: string, call: ToolCall) =>
    Effect.map(skillPage(ask, id, call), (text) => attach(`${scheme}skills/${id}`, "text/markdown", text))

  return [
    {
      name: "explain_request",
      title: "Explain a request",
      description: "Why a request went where it went, and what can be done when that was wrong.",
      scopes: ["read:health", "read:usage"],
      arguments: [argument("requestId", "The `X-Gateway-Request-Id` of the request.", { values: lastRequests(ask) })],
      messages: ({ requestId = "" }, call) =>
        Effect.map(
          attached(`decisions/${requestId}`, "routing.decision", { path: { requestId } }, call),
          (decision) => [
            decision,
            say(
              `This is the gateway's decision about the request ${requestId}. Explain in a few sentences which targets it had, ` +
                "why the others were left out, and what was called in the end. If an account was excluded, say until when, and what its owner can do."
            )
          ]
        )
    },
    {
      name: "review_costs",
      title: "Review what was spent",
      description: "What cost most, and where the same could be had for less.",
      scopes: ["read:usage", "read:models"],
      arguments: [
        argument("range", `Of which time: ${usageRanges.join(", ")}; absent: 30d.`, {
          isRequired: false,
          values: () => Effect.succeed(usageRanges)
        })
      ],
      messages: ({ range = "30d" }, call) =>
        Effect.map(attached(`usage/${range}`, "usageHistory.analytics", { query: { range } }, call), (usage) => [
          usage,
          say(
            "This is the gateway's usage. Name the models, keys and connections that cost most, how the cost changed by day, and up to three changes " +
              "that would lower it. Compare prices with gateway_list_models_catalog before you propose another model. Amounts are USD."
          )
        ])
    },
    {
      name: "choose_model",
      title: "Choose a model or combo for a task",
      description: "Which of the models that can be asked for suits a task.",
      scopes: ["read:models", "read:combos"],
      arguments: [argument("task", "What is to be done, in words.")],
      messages: ({ task = "" }) =>
        Effect.succeed([
          say(
            "Choose what to ask for this task through the gateway. Look with gateway_list_models_catalog and gateway_list_combos at what can be asked " +
              "for, compare windows, features and prices, check with gateway_simulate_route that it can be served now, and name one model id or " +
              `combo with the reason.\n\nThe task: ${task}`
          )
        ])
    },
    {
      name: "add_provider",
      title: "Connect a provider",
      description: "Connects an account of a provider, tests it and makes a first combo of it.",
      scopes: ["read:catalog"],
      arguments: [argument("provider", "The provider, such as `openai`.", { values: () => Effect.succeed(providers) })],
      messages: ({ provider = "" }, call) =>
        Effect.map(manual("gw-providers", call), (page) => [
          page,
          say(
            `Connect an account of the provider '${provider}' to the gateway as this manual says. Ask me for the key, do not repeat it, test the connection ` +
              "before you call it done, and tell me the model ids that can be asked for now."
          )
        ])
    },
    {
      name: "diagnose",
      title: "Find out what is wrong",
      description: "Why requests fail or are slow, from the health and the last requests.",
      scopes: ["read:health", "read:usage"],
      arguments: [],
      messages: (_, call) =>
        Effect.map(
          Effect.all([
            attached("health", "system.health", {}, call),
            attached("requests", "usage.logs", { query: { limit: "50" } }, call)
          ]),
          ([health, requests]) => [
            health,
            requests,
            say(
              "This is the state of the gateway and its last requests. Find what fails or is slow, group it by its cause, look at single decisions with " +
                "gateway_explain_route where it helps, and say for each cause what its owner should do. Say so when nothing is wrong."
            )
          ]
        )
    }
  ]
}
