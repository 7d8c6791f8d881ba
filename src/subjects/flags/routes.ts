/** Feature flags: one route, for admin sessions only. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer } from "../../contract/Errors.ts"
import { nextCursor, total, optional } from "../../contract/Inputs.ts"
import { field } from "../../kernel/Documented.ts"

const Source = Schema.Literal("db", "env", "default")

export const FlagView = Schema.Struct({
  key: field(Schema.String, "Name of the flag, and of its environment variable.", "TOOL_POLICY_MODE"),
  label: field(Schema.String, "Name for people.", "Tool policy mode"),
  description: field(Schema.String, "What it does.", "What happens with requests that use tools."),
  category: field(Schema.Literal("security", "network", "policies", "runtime", "cli", "health"), "What it is about."),
  type: field(Schema.Literal("boolean", "enum"), "Kind of its values."),
  enumValues: field(Schema.NullOr(Schema.Array(Schema.String)), "Its values; null for a boolean.", [
    "disabled",
    "warn",
    "block"
  ]),
  defaultValue: field(Schema.String, "Its value when nobody set it.", "disabled"),
  effectiveValue: field(Schema.String, "Its value now.", "warn"),
  source: field(Source, "Who set it: this API, the environment, or nobody."),
  requiresRestart: field(Schema.Boolean, "Whether a change holds from the next start only.", false),
  pendingRestart: field(Schema.Boolean, "Whether another value is in force until the next start.", false),
  warningLevel: field(Schema.Literal("none", "caution", "danger"), "How careful a change has to be.", "none"),
  waitsFor: field(
    Schema.NullOr(Schema.String),
    "The part that will read it and does not exist yet; null when the flag has an effect.",
    "the guardrails"
  )
}).annotations({ identifier: "FeatureFlag" })
export type FlagView = typeof FlagView.Type

export const Summary = Schema.Struct({
  total: field(Schema.Number, "All flags.", 38),
  active: field(Schema.Number, "Flags that are on, or not at their default.", 12),
  inactive: field(Schema.Number, "The others.", 26),
  overriddenByDb: field(Schema.Number, "Flags set by this API.", 1),
  overriddenByEnv: field(Schema.Number, "Flags set by the environment.", 0)
})

export const FlagChange = Schema.Struct({
  key: field(Schema.String, "Name of the flag.", "TOOL_POLICY_MODE"),
  effectiveValue: field(Schema.String, "Its value now.", "warn"),
  source: field(Source, "Who set it now."),
  previousValue: field(Schema.String, "Its value before.", "disabled"),
  previousSource: field(Source, "Who had set it before.", "default"),
  requiresRestart: field(Schema.Boolean, "Whether the change holds from the next start only.", false),
  pendingRestart: field(Schema.Boolean, "Whether another value is in force until the next start.", false)
}).annotations({ identifier: "FeatureFlagChange" })

const at = endpointsOf("flags")

export class Flags extends HttpApiGroup.make("flags")
  .annotate(OpenApi.Title, "Feature flags")
  .annotate(OpenApi.Description, "Switches of the gateway. For admin sessions only: a key cannot change them.")
  .add(
    at("list", {
      summary: "List feature flags",
      description: "All flags with their values and where these come from.",
      paged: true
    }).addSuccess(
      Schema.Struct({
        flags: field(Schema.Array(FlagView), "The flags of the page."),
        summary: field(Summary, "Counts over all flags."),
        nextCursor,
        total
      }).annotations({ identifier: "FeatureFlagList" })
    )
  )
  .add(
    at("set", {
      summary: "Set a feature flag",
      description: "Without a value (or with null) the flag goes back to the environment, else to its default.",
      example: { key: "TOOL_POLICY_MODE", value: "warn" }
    })
      .setPayload(
        Schema.Struct({
          key: field(Schema.String, "Name of the flag.", "TOOL_POLICY_MODE"),
          value: field(optional(Schema.String), "Its value, as text; null or absent: no longer set.", "warn")
        }).annotations({ identifier: "SetFeatureFlag" })
      )
      .addSuccess(FlagChange)
      .addError(ConflictAnswer)
  )
  .add(
    at("clear", {
      summary: "Reset all feature flags",
      description: "Removes what this API has set; the environment and the defaults hold again."
    })
      .addSuccess(
        Schema.Struct({
          cleared: field(Schema.Number, "How many flags were set.", 1),
          message: field(Schema.String, "The same, for people.", "1 override was removed.")
        }).annotations({ identifier: "FeatureFlagsCleared" })
      )
      .addError(ConflictAnswer)
  ) {}
