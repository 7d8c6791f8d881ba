/** The gateway's agent for other agents: its card and its state (docs/a2a.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"

const Card = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({
  identifier: "AgentCard",
  description: "An agent card of A2A, with the fields of the versions 0.3 and 1.0.",
  examples: [{ name: "Gateway", url: "http://127.0.0.1:20128/a2a", protocolVersion: "0.3.0", skills: [] }]
})

const count = (meaning: string, example: number) => field(Schema.Number, meaning, example)

export const A2aStatus = Schema.Struct({
  enabled: field(Schema.Boolean, "The setting `a2aEnabled`.", true),
  url: field(Schema.String, "Where the agent answers.", "http://127.0.0.1:20128/a2a"),
  skills: field(Schema.Array(Schema.String), "What it can do.", ["smart-routing"]),
  tasks: field(
    Schema.Struct({
      submitted: count("Not begun.", 0),
      working: count("Under way.", 1),
      completed: count("Answered.", 12),
      failed: count("Failed.", 0),
      canceled: count("Cancelled.", 0),
      rejected: count("Refused.", 0)
    }),
    "Tasks that are not forgotten yet, by state; five minutes after its last change a task is forgotten."
  )
}).annotations({ identifier: "A2aStatus" })
export type A2aStatus = typeof A2aStatus.Type

const at = endpointsOf("a2a")

export class A2a extends HttpApiGroup.make("a2a")
  .annotate(OpenApi.Title, "A2A agent")
  .annotate(OpenApi.Description, "The gateway's agent for other agents: its card and its state.")
  .add(
    at("card", {
      summary: "Show the agent card",
      description: "By which other agents find this one. Needs no key."
    }).addSuccess(Card)
  )
  .add(
    at("formerCard", {
      summary: "Show the agent card at its former place",
      description: "The same card, for clients of the first versions."
    }).addSuccess(Card)
  )
  .add(
    at("status", { summary: "Show the agent's state", description: "Whether it is on, and its tasks." }).addSuccess(
      A2aStatus
    )
  ) {}
