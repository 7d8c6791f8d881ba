/** The configuration as a whole (docs/apply.md). */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { field } from "../../kernel/Documented.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import { body, optional } from "../../contract/Inputs.ts"

const mostChanges = 30_000

const Change = Schema.Struct({
  kind: field(
    Schema.Literal(
      "node",
      "connection",
      "combo",
      "alias",
      "price",
      "key",
      "mcpServer",
      "model",
      "quotaGroup",
      "budget",
      "tokenLimit",
      "proxy",
      "proxyAssignment",
      "webhook",
      "resilience",
      "settings"
    ),
    "What is changed.",
    "alias"
  ),
  action: field(Schema.Literal("create", "update", "remove"), "What is done with it.", "create"),
  name: field(
    Schema.String.pipe(Schema.maxLength(1_000)),
    "What it is known by: prefix, `<provider>/<name>`, name or alias; of a price `<provider>/<model>`.",
    "best"
  ),
  id: field(
    optional(Schema.String.pipe(Schema.maxLength(200))),
    "Id of the thing that is changed or removed; absent for a new one, an alias, a price and the settings.",
    "019aa6ee-6a10-7000-9b21-0a4d5c6e7f81"
  ),
  body: field(
    optional(Schema.Record({ key: Schema.String, value: Schema.Unknown })),
    "The body of the route that makes the change: of an alias `{model}`, of a price `{price}`. Connections are named as `<provider>/<name>`, API keys (`key`) and proxies (`proxy`) by their names; the second key of a name is `name#2`.",
    { model: "openai/gpt-4o" }
  )
})

export const ApplyConfiguration = Schema.Struct({
  changes: field(
    Schema.Array(Change).pipe(Schema.maxItems(mostChanges)),
    `The changes, at most ${mostChanges}, in the order in which they are made.`,
    [{ kind: "alias", action: "create", name: "best", body: { model: "openai/gpt-4o" } }]
  ),
  dryRun: field(optional(Schema.Boolean), "Only say whether all of it would be done.", false)
}).annotations(body("ApplyConfiguration"))
export type ApplyConfiguration = typeof ApplyConfiguration.Type

export const ConfigurationApplied = Schema.Struct({
  dryRun: field(Schema.Boolean, "Whether nothing was changed because it was only tried.", false),
  changes: field(Schema.Number, "Changes that were made, or would be.", 1),
  secrets: field(
    Schema.Record({ key: Schema.String, value: Schema.String }),
    "Secrets of API keys that were made, by name. They are shown this once.",
    { laptop: "gw_live_0f3c9d2b7a64" }
  )
}).annotations({ identifier: "ConfigurationApplied" })

const at = endpointsOf("configuration")

export class Configuration extends HttpApiGroup.make("configuration")
  .annotate(OpenApi.Title, "Configuration")
  .annotate(OpenApi.Description, "The configuration as a whole, as `gateway apply` and `gateway import` change it.")
  .add(
    at("apply", {
      summary: "Make several changes, all or none",
      description:
        "Everything is tried at a copy of the configuration first. When one change is refused, the answer names it with its reason and nothing is changed.",
      example: {
        changes: [{ kind: "alias", action: "create", name: "best", body: { model: "openai/gpt-4o" } }],
        dryRun: true
      }
    })
      .setPayload(ApplyConfiguration)
      .addSuccess(ConfigurationApplied)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  ) {}
