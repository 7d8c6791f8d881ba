/** Feature flags: one route, for admin sessions only. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../Endpoints.ts"
import { ConflictAnswer } from "../Errors.ts"
import { optional } from "../Inputs.ts"

const Source = Schema.Literal("db", "env", "default")

const FlagView = Schema.Struct({
  key: Schema.String,
  label: Schema.String,
  description: Schema.String,
  category: Schema.Literal("security", "network", "policies", "runtime", "cli", "health"),
  type: Schema.Literal("boolean", "enum"),
  enumValues: Schema.NullOr(Schema.Array(Schema.String)),
  defaultValue: Schema.String,
  effectiveValue: Schema.String,
  source: Source,
  requiresRestart: Schema.Boolean,
  warningLevel: Schema.String
}).annotations({ identifier: "FeatureFlag" })
export type FlagView = typeof FlagView.Type

const Summary = Schema.Struct({
  total: Schema.Number,
  active: Schema.Number,
  inactive: Schema.Number,
  overriddenByDb: Schema.Number,
  overriddenByEnv: Schema.Number
})

const FlagChange = Schema.Struct({
  key: Schema.String,
  effectiveValue: Schema.String,
  source: Source,
  previousValue: Schema.String,
  previousSource: Source,
  requiresRestart: Schema.Boolean
})

const at = endpointsOf("flags")

export class Flags extends HttpApiGroup.make("flags")
  .add(at("list").addSuccess(Schema.Struct({ flags: Schema.Array(FlagView), summary: Summary })))
  .add(
    at("set")
      .setPayload(Schema.Struct({ key: Schema.String, value: optional(Schema.String) }))
      .addSuccess(FlagChange)
      .addError(ConflictAnswer)
  )
  .add(
    at("clear")
      .addSuccess(Schema.Struct({ cleared: Schema.Number, message: Schema.String }))
      .addError(ConflictAnswer)
  ) {}
