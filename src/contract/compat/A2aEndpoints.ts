/** The agent for other agents as an endpoint, for `CompatApi`. */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { asking } from "./Described.ts"
import { anyObject, maybe, others } from "./Open.ts"

const version = field(Schema.Literal("2.0"), "Always `2.0`.")
const Id = Schema.Union(Schema.String, Schema.Number)

const AgentRequest = Schema.Struct(
  {
    jsonrpc: version,
    id: field(maybe(Id), "Names the request in its answer; absent: a notification, which is not acted on.", 1),
    method: field(
      maybe(Schema.String),
      "`message/send`, `message/stream`, `tasks/get`, `tasks/cancel` or `tasks/resubscribe`; or their names in A2A 1.0, such as `SendMessage`.",
      "message/send"
    ),
    params: field(maybe(anyObject), "`message` as A2A has it, or `skill` and `messages`; `id` of a task.", {
      skill: "list-capabilities",
      messages: [{ role: "user", content: "What can this gateway do?" }]
    })
  },
  others
).annotations({ identifier: "AgentRequest" })

const AgentAnswer = Schema.Struct({
  jsonrpc: version,
  id: field(Schema.NullOr(Id), "That of the request.", 1),
  result: field(maybe(anyObject), "The task with its answer.", {
    task: { id: "019aa6ee-5c00-7000-8f3e-1f0c9d2b7a64", state: "completed" },
    artifacts: [{ type: "text", content: "| skill | what it tells | page |" }]
  }),
  error: field(maybe(anyObject), "In place of a result: `code` and `message`.", {
    code: -32_001,
    message: "There is no such task; it may be forgotten."
  })
}).annotations({ identifier: "AgentAnswer" })

export const askAgent = HttpApiEndpoint.post("askAgent", "/a2a")
  .setPayload(AgentRequest)
  .addSuccess(AgentAnswer)
  .annotateContext(
    asking(
      "Ask the gateway's agent",
      "JSON-RPC 2.0 of the Agent2Agent protocol (docs/a2a.md); streams are answered as events. Needs the setting `a2aEnabled`.",
      {
        jsonrpc: "2.0",
        id: 1,
        method: "message/send",
        params: {
          skill: "list-capabilities",
          messages: [{ role: "user", content: "What can this gateway do?" }]
        }
      }
    )
  )
