/** Aliases of models: other names for any id that can be requested. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import { body, nextCursor, total, optional, Text } from "../../contract/Inputs.ts"
import { field } from "../../kernel/Documented.ts"

const words = {
  alias: "The other name.",
  model: "The id it stands for: anything that can be asked for, also another alias."
} as const

export const AliasView = Schema.Struct({
  alias: field(Schema.String, words.alias, "my-model"),
  model: field(Schema.String, words.model, "openai/gpt-4o-mini")
}).annotations({
  identifier: "ModelAlias"
})
export type AliasView = typeof AliasView.Type

/** A model id as a client sends it: no blanks at its ends, no control characters. */
const ModelId = Text.pipe(
  Schema.maxLength(300),
  // eslint-disable-next-line no-control-regex -- these are what is refused
  Schema.filter((text) => (/[\u0000-\u001f\u007f]/.test(text) ? "must not hold control characters" : true))
)

/** `model` is any id that can be asked for, also another alias. Storing an alias again replaces it. */
export const SetAlias = Schema.Struct({
  model: field(ModelId, words.model, "openai/gpt-4o-mini"),
  alias: field(ModelId, words.alias, "my-model")
}).annotations(body("SetModelAlias"))
export type SetAlias = typeof SetAlias.Type

const success = field(Schema.Literal(true), "Always true.")
export const AliasSet = Schema.Struct({ success, ...AliasView.fields }).annotations({ identifier: "ModelAliasSet" })
const AliasRemoved = Schema.Struct({ success, alias: AliasView.fields.alias }).annotations({
  identifier: "ModelAliasRemoved"
})

const at = endpointsOf("modelAliases")

export class ModelAliases extends HttpApiGroup.make("modelAliases")
  .annotate(OpenApi.Title, "Model aliases")
  .annotate(OpenApi.Description, "Other names for model ids.")
  .add(
    at("list", { summary: "List model aliases", description: "All aliases.", paged: true }).addSuccess(
      Schema.Struct({
        aliases: field(Schema.Array(AliasView), "The aliases of the page."),
        nextCursor,
        total
      }).annotations({
        identifier: "ModelAliasList"
      })
    )
  )
  .add(
    at("set", { summary: "Set a model alias", description: "An alias that exists is replaced." })
      .setPayload(SetAlias)
      .addSuccess(AliasSet)
      .addError(ConflictAnswer)
  )
  .add(
    at("remove", {
      summary: "Delete a model alias",
      description: "Its name is in the query or in the body; the query counts first."
    })
      .setUrlParams(
        Schema.Struct({ alias: field(Schema.optionalWith(Schema.String, { exact: true }), words.alias, "my-model") })
      )
      .setPayload(
        Schema.NullOr(
          Schema.Struct({ alias: field(optional(Schema.String), words.alias, "my-model") }).annotations({
            identifier: "RemoveModelAlias"
          })
        )
      )
      .addSuccess(AliasRemoved)
      .addError(NotFoundAnswer)
  ) {}
