/** Agents of the Agent Client Protocol on the gateway's machine (docs/acp.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ForbiddenAnswer, NotFoundAnswer, UnavailableAnswer } from "../../contract/Errors.ts"
import { body, Name, NoContent, optional } from "../../contract/Inputs.ts"
import { observed } from "../../kernel/Observed.ts"

export const AgentView = Schema.Struct({
  id: field(Schema.String, "Id of the agent.", "claude"),
  name: field(Schema.String, "Its name.", "Claude Code"),
  binary: field(Schema.String, "Its program: a name on the PATH, or a path.", "claude"),
  version: observed(Schema.NullOr(Schema.String), "Its version; null: unknown.", "2.1.197"),
  installed: observed(Schema.Boolean, "Whether its program was found.", true),
  protocol: field(Schema.Literal("stdio", "http"), "How it is spoken to.", "stdio"),
  isCustom: field(Schema.Boolean, "Whether it was added here.", false)
}).annotations({ identifier: "AcpAgent" })
export type AgentView = typeof AgentView.Type

const number = (meaning: string, example: number) => field(Schema.Number, meaning, example)

export const AgentList = Schema.Struct({
  agents: field(Schema.Array(AgentView), "The agents, those that were added last."),
  summary: field(
    Schema.Struct({
      total: number("All of them.", 13),
      installed: number("Whose program was found.", 2),
      notFound: number("The others.", 11),
      builtIn: number("That the gateway knows.", 13),
      custom: number("That were added.", 0)
    }),
    "Counts."
  )
}).annotations({ identifier: "AcpAgents" })
export type AgentList = typeof AgentList.Type

const Id = Schema.String.pipe(
  Schema.pattern(/^[a-z][\da-z-]{0,63}$/, { message: () => "must be lower-case letters, digits and '-'" })
)
const AbsolutePath = Schema.String.pipe(Schema.minLength(2), Schema.maxLength(1_024))
const Arguments = Schema.Array(Schema.String.pipe(Schema.maxLength(1_024))).pipe(Schema.maxItems(50))

/** All absent but `action`: only look again. */
export const ChangeAgents = Schema.Struct({
  action: field(
    optional(Schema.Literal("refresh", "add")),
    "`refresh`: look again; `add`, the default with an id: add an agent.",
    "refresh"
  ),
  id: field(optional(Id), "Id of the new agent.", "my-agent"),
  name: field(optional(Name), "Its name; absent: its id.", "My agent"),
  binary: field(optional(AbsolutePath), "The absolute path of its program.", "/usr/local/bin/my-agent"),
  protocol: field(optional(Schema.Literal("stdio", "http")), "How it is spoken to. Default: stdio.", "stdio"),
  spawnArgs: field(optional(Arguments), "Arguments for those who start it; the gateway does not.", ["--acp"]),
  providerAlias: field(optional(Name), "The provider it stands for.", "my-provider")
}).annotations(body("ChangeAcpAgents"))

export const AgentIdQuery = Schema.Struct({ id: field(Id, "Id of the agent.", "my-agent") })

const at = endpointsOf("acp")

export class Acp extends HttpApiGroup.make("acp")
  .annotate(OpenApi.Title, "ACP agents")
  .annotate(OpenApi.Description, "Agents of the Agent Client Protocol on the gateway's machine.")
  .add(
    at("list", {
      summary: "List the agents",
      description: "Programs are asked for their version at most once a minute."
    })
      .addSuccess(AgentList)
      .addError(UnavailableAnswer)
  )
  .add(
    at("change", {
      summary: "Look for agents again, or add one",
      description:
        "Adding one needs the session of a login and a direct connection from the gateway's own machine, because its program is asked for its version.",
      example: { action: "refresh" }
    })
      .setPayload(ChangeAgents)
      .addSuccess(AgentList)
      .addError(ForbiddenAnswer)
      .addError(UnavailableAnswer)
  )
  .add(
    at("remove", { summary: "Remove an agent", description: "Only one that was added." })
      .setUrlParams(AgentIdQuery)
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
      .addError(UnavailableAnswer)
  ) {}
