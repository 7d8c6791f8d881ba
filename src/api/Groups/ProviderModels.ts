/** Models the operator declared or corrected; they win over what was learned from the upstream. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../Endpoints.ts"
import { NotFoundAnswer } from "../Errors.ts"
import { body, clearable, Created, NoContent, optional, Text } from "../Inputs.ts"

const Capabilities = Schema.Struct({
  vision: optional(Schema.Boolean),
  reasoning: optional(Schema.Boolean),
  toolCalling: optional(Schema.Boolean),
  structuredOutput: optional(Schema.Boolean),
  /** Forces the no-thinking alias of this model on or off. */
  noThinkingAlias: optional(Schema.Boolean)
}).annotations({ identifier: "ModelCapabilities" })

export const ProviderModelView = Schema.Struct({
  provider: Schema.String,
  modelId: Schema.String,
  name: Schema.NullOr(Schema.String),
  contextLength: Schema.NullOr(Schema.Number),
  maxOutputTokens: Schema.NullOr(Schema.Number),
  capabilities: Schema.Record({ key: Schema.String, value: Schema.Boolean }),
  hidden: Schema.Boolean
}).annotations({ identifier: "ProviderModel" })
export type ProviderModelView = typeof ProviderModelView.Type

const Tokens = Schema.Int.pipe(Schema.between(1, 100_000_000))

const key = {
  provider: Text,
  modelId: Text.pipe(Schema.maxLength(300))
}

/** POST declares a model anew, whatever was declared before; PATCH changes only what is given. */
export const ProviderModelInput = Schema.Struct({
  ...key,
  name: clearable(Text),
  contextLength: clearable(Tokens),
  maxOutputTokens: clearable(Tokens),
  capabilities: optional(Capabilities),
  hidden: optional(Schema.Boolean)
}).annotations(body("ProviderModelInput"))
export type ProviderModelInput = typeof ProviderModelInput.Type

const Model = Schema.Struct({ model: ProviderModelView })

/** DELETE takes its key from the query string or from a body. */
const RemoveKey = Schema.Struct({ provider: optional(Schema.String), modelId: optional(Schema.String) })
const RemoveQuery = Schema.Struct({
  provider: Schema.optionalWith(Schema.String, { exact: true }),
  modelId: Schema.optionalWith(Schema.String, { exact: true })
})

const at = endpointsOf("providerModels")

export class ProviderModels extends HttpApiGroup.make("providerModels")
  .add(
    at("list")
      .setUrlParams(Schema.Struct({ provider: Schema.optionalWith(Schema.String, { exact: true }) }))
      .addSuccess(Schema.Struct({ models: Schema.Array(ProviderModelView) }))
  )
  .add(at("create").setPayload(ProviderModelInput).addSuccess(Created(Model)))
  .add(at("update").setPayload(ProviderModelInput).addSuccess(Model))
  .add(
    at("remove")
      .setUrlParams(RemoveQuery)
      .setPayload(Schema.NullOr(RemoveKey))
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  ) {}
