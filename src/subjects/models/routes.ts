/** Models the operator declared or corrected; they win over what was learned from the upstream. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { NotFoundAnswer } from "../../contract/Errors.ts"
import { body, clearable, Created, nextCursor, total, NoContent, optional, Text } from "../../contract/Inputs.ts"
import { field } from "../../kernel/Documented.ts"

const Capabilities = Schema.Struct({
  vision: field(optional(Schema.Boolean), "Takes pictures.", true),
  reasoning: field(optional(Schema.Boolean), "Can think before it answers.", false),
  toolCalling: field(optional(Schema.Boolean), "Can call tools.", true),
  structuredOutput: field(optional(Schema.Boolean), "Answers in a given JSON schema.", true),
  noThinkingAlias: field(
    optional(Schema.Boolean),
    "Forces the alias of this model that does not think on or off.",
    false
  )
}).annotations({ identifier: "ModelCapabilities" })

const words = {
  provider: ["Id of the provider, or the prefix of a node.", "openai"],
  modelId: ["Id of the model at the provider.", "my-finetune-1"],
  name: ["Name for people; null: the id.", "My fine-tune"],
  contextLength: ["Tokens of prompt and answer together; null: as the provider says.", 128_000],
  maxOutputTokens: ["Tokens of the longest answer; null: as the provider says.", 16_384],
  capabilities: ["What it can do, where that differs from what is known.", { vision: true, toolCalling: true }],
  hidden: ["Left out of model lists.", false]
} as const

export const ProviderModelView = Schema.Struct({
  provider: field(Schema.String, ...words.provider),
  modelId: field(Schema.String, ...words.modelId),
  name: field(Schema.NullOr(Schema.String), ...words.name),
  contextLength: field(Schema.NullOr(Schema.Number), ...words.contextLength),
  maxOutputTokens: field(Schema.NullOr(Schema.Number), ...words.maxOutputTokens),
  capabilities: field(Schema.Record({ key: Schema.String, value: Schema.Boolean }), ...words.capabilities),
  hidden: field(Schema.Boolean, ...words.hidden)
}).annotations({ identifier: "ProviderModel" })
export type ProviderModelView = typeof ProviderModelView.Type

const Tokens = Schema.Int.pipe(Schema.between(1, 100_000_000))

const key = {
  provider: field(Text, ...words.provider),
  modelId: field(Text.pipe(Schema.maxLength(300)), ...words.modelId)
}

/** POST declares a model anew, whatever was declared before; PATCH changes only what is given. */
export const ProviderModelInput = Schema.Struct({
  ...key,
  name: field(clearable(Text), ...words.name),
  contextLength: field(clearable(Tokens), ...words.contextLength),
  maxOutputTokens: field(clearable(Tokens), ...words.maxOutputTokens),
  capabilities: field(optional(Capabilities), ...words.capabilities),
  hidden: field(optional(Schema.Boolean), ...words.hidden)
}).annotations(body("ProviderModelInput"))
export type ProviderModelInput = typeof ProviderModelInput.Type

const Model = Schema.Struct({ model: field(ProviderModelView, "The model as it was declared.") }).annotations({
  identifier: "ProviderModelAnswer"
})

/** DELETE takes its key from the query string or from a body. */
const RemoveKey = Schema.Struct({
  provider: field(optional(Schema.String), ...words.provider),
  modelId: field(optional(Schema.String), ...words.modelId)
}).annotations({ identifier: "RemoveProviderModel" })
const queryProvider = field(Schema.optionalWith(Schema.String, { exact: true }), ...words.provider)
const RemoveQuery = Schema.Struct({
  provider: queryProvider,
  modelId: field(Schema.optionalWith(Schema.String, { exact: true }), ...words.modelId)
})

const at = endpointsOf("providerModels")

export class ProviderModels extends HttpApiGroup.make("providerModels")
  .annotate(OpenApi.Title, "Declared models")
  .annotate(
    OpenApi.Description,
    "Models that the operator declared or corrected; they win over what the provider says."
  )
  .add(
    at("list", {
      summary: "List declared models",
      description: "What was declared here, of one provider or of all.",
      paged: true
    })
      .setUrlParams(Schema.Struct({ provider: queryProvider }))
      .addSuccess(
        Schema.Struct({
          models: field(Schema.Array(ProviderModelView), "The models of the page."),
          nextCursor,
          total
        }).annotations({ identifier: "ProviderModelList" })
      )
  )
  .add(
    at("create", {
      summary: "Declare a model",
      description: "Declares a model anew, whatever was declared before. It wins over what the provider says.",
      example: { provider: "openai", modelId: "my-finetune-1", contextLength: 128_000, capabilities: { vision: true } }
    })
      .setPayload(ProviderModelInput)
      .addSuccess(Created(Model))
  )
  .add(
    at("update", {
      summary: "Change a declared model",
      description: "Changes only what is given; null takes a value back.",
      example: { provider: "openai", modelId: "my-finetune-1", hidden: true }
    })
      .setPayload(ProviderModelInput)
      .addSuccess(Model)
  )
  .add(
    at("remove", {
      summary: "Take a declaration back",
      description: "Provider and model are in the query or in the body; the query counts first."
    })
      .setUrlParams(RemoveQuery)
      .setPayload(Schema.NullOr(RemoveKey))
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
  ) {}
