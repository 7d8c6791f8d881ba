/** Settings of the gateway as a whole: PATCH and PUT take any part and answer the whole. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Access from "./entity/AccessSettings.ts"
import * as Schema from "effect/Schema"
import * as Shape from "./entity.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { body } from "../../contract/Inputs.ts"
import { field } from "../../kernel/Documented.ts"
import { IssueSettings, issueSettings } from "../issueReports/routes.ts"
import { syncSettings, SyncView } from "../sync/routes.ts"

/** The settings of the cloud sync and of the issue tracker are here too; their secrets are masked. */
const AllSettings = Schema.Struct({
  ...Shape.GatewaySettings.fields,
  cloudUrl: SyncView.fields.cloudUrl,
  sharedKey: SyncView.fields.sharedKey,
  issues: field(IssueSettings, "The tracker that issues are reported to.")
}).annotations({ identifier: "AllSettings" })

const ChangeSettings = Schema.Struct({
  ...Shape.GatewaySettingsPatch.fields,
  ...syncSettings,
  ...issueSettings
}).annotations({
  identifier: "ChangeSettings",
  parseOptions: { ...body("ChangeSettings").parseOptions, onExcessProperty: "error" }
})

export type ChangeSettings = typeof ChangeSettings.Type

const at = endpointsOf("gatewaySettings")

const change = (summary: string) => ({
  summary,
  description:
    "Takes any part and answers the whole; what is absent stays as it is. Null takes a text away that may be null, and leaves the others as they are.",
  example: { metricsPublic: false, decisions: { retentionDays: 14 } }
})

export class GatewaySettings extends HttpApiGroup.make("gatewaySettings")
  .annotate(OpenApi.Title, "Settings")
  .annotate(OpenApi.Description, "Settings of the gateway as a whole.")
  .add(
    at("get", {
      summary: "Show the settings",
      description: "All settings, with those that nobody changed."
    }).addSuccess(AllSettings)
  )
  .add(at("update", change("Change settings")).setPayload(ChangeSettings).addSuccess(AllSettings))
  .add(at("put", change("Change settings (PUT)")).setPayload(ChangeSettings).addSuccess(AllSettings))
  .add(
    at("ipFilter", {
      summary: "Show the IP filter",
      description:
        "Which addresses the gateway answers at all. Direct connections of its own machine are never refused."
    }).addSuccess(Access.IpFilter)
  )
  .add(
    at("setIpFilter", {
      summary: "Change the IP filter",
      description:
        "What is absent or null stays as it is. A refused address gets a 403 on every route, before its key is read.",
      example: { enabled: true, mode: "whitelist", whitelist: ["10.0.0.0/8"] }
    })
      .setPayload(Access.IpFilterPatch.annotations(body("ChangeIpFilter")))
      .addSuccess(Access.IpFilter)
  )
  .add(
    at("thinkingBudget", {
      summary: "Show the thinking budget",
      description: "How much models that can think may do so."
    }).addSuccess(Access.ThinkingBudget)
  )
  .add(
    at("setThinkingBudget", {
      summary: "Change the thinking budget",
      description: "What is absent stays as it is.",
      example: { mode: "custom", customBudget: 4096 }
    })
      .setPayload(Access.ThinkingBudgetPatch.annotations(body("ChangeThinkingBudget")))
      .addSuccess(Access.ThinkingBudget)
  )
  .add(
    at("systemPrompt", {
      summary: "Show the system prompt",
      description: "Texts around the system text of every conversation."
    }).addSuccess(Access.SystemPrompt)
  )
  .add(
    at("setSystemPrompt", {
      summary: "Change the system prompt",
      description: "What is absent or null stays as it is; an empty text takes one away.",
      example: { enabled: true, prefixPrompt: "Answer in English." }
    })
      .setPayload(Access.SystemPromptPatch.annotations(body("ChangeSystemPrompt")))
      .addSuccess(Access.SystemPrompt)
  )
  .add(
    at("requireLogin", {
      summary: "Show whether to log in",
      description: "Needs no key. Management needs an administrator whatever it says."
    }).addSuccess(Access.RequireLogin)
  )
  .add(
    at("setRequireLogin", {
      summary: "Change whether to log in",
      description: "It is told to clients that ask, and opens nothing: management needs an administrator in any case.",
      example: { requireLogin: true }
    })
      .setPayload(Access.RequireLoginPatch.annotations(body("ChangeRequireLogin")))
      .addSuccess(Access.RequireLogin)
  ) {}
