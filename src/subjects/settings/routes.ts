/** Settings of the gateway as a whole: PATCH and PUT take any part and answer the whole. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Access from "./entity/AccessSettings.ts"
import * as Schema from "effect/Schema"
import * as Shape from "./entity.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { UnavailableAnswer } from "../../contract/Errors.ts"
import { exampleTime } from "../../contract/Examples.ts"
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

const SettingOrigin = Schema.Struct({
  operation: field(Schema.String, "Operation that changes it, as the API document names it.", "gatewaySettingsUpdate"),
  name: field(Schema.String, "Its name in the body of that operation, with dots between the levels.", "cache.enabled"),
  value: field(Schema.Unknown, "What is in force.", true),
  defaultValue: field(Schema.Unknown, "What is in force where nobody says anything else.", false),
  source: field(
    Schema.Literal("db", "default"),
    "`db`: set by this API or a command, and other than the default; `default`: as the gateway comes."
  ),
  changedAt: field(
    Schema.NullOr(Schema.String),
    "When it was last set, or another part of the same group, ISO 8601; null: the audit log knows of no change.",
    exampleTime
  ),
  changedBy: field(
    Schema.NullOr(Schema.String),
    "Who did that, as the audit log names them: `admin-key`, `owner`, `session:<id>`, `key '<name>'`; null: unknown.",
    "admin-key"
  )
}).annotations({ identifier: "SettingOrigin" })

const VariableOrigin = Schema.Struct({
  name: field(Schema.String, "Name of the variable.", "HOST"),
  description: field(Schema.String, "What it says.", "Address that the gateway listens on."),
  value: field(
    Schema.NullOr(Schema.String),
    "What is in force; null: nothing, or it is a secret, which is shown nowhere.",
    "127.0.0.1"
  ),
  defaultValue: field(Schema.String, "What is in force where it is not set, for people.", "127.0.0.1"),
  source: field(
    Schema.Literal("env", "default"),
    "`env`: the variable is set, or an option of the command says the same; `default`: as the gateway comes."
  ),
  isSecret: field(Schema.Boolean, "Whether its value may be a secret.", false)
}).annotations({ identifier: "VariableOrigin" })

const Listener = Schema.Struct({
  address: field(Schema.String, "Address that it listens on.", "127.0.0.1"),
  port: field(Schema.Number, "Its port.", 20_128),
  reach: field(
    Schema.Literal("machine", "network"),
    "Who can reach it: programs of this machine, or every machine that has a way to the address."
  )
}).annotations({ identifier: "Listener" })

export const SettingOrigins = Schema.Struct({
  settings: field(Schema.Array(SettingOrigin), "All settings. A change holds at once, without a restart."),
  variables: field(
    Schema.Array(VariableOrigin),
    "Variables of the environment. A change holds from the next start of the program."
  ),
  listener: field(Listener, "Where the gateway listens.")
}).annotations({ identifier: "SettingOrigins" })
export type SettingOrigins = typeof SettingOrigins.Type

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
    at("origins", {
      summary: "Show what is set, and by whom",
      description:
        "Every setting beside its default, with who changed it last, and the variables that the program was started with. Feature flags have a list of their own."
    })
      .addSuccess(SettingOrigins)
      .addError(UnavailableAnswer)
  )
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
