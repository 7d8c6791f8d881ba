/** Aliases of models: other names for any id that can be requested. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { endpointsOf } from "../Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../Errors.ts"
import { body, optional, Text } from "../Inputs.ts"

export const AliasView = Schema.Struct({ alias: Schema.String, model: Schema.String }).annotations({
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
export const SetAlias = Schema.Struct({ model: ModelId, alias: ModelId }).annotations(body("SetModelAlias"))
export type SetAlias = typeof SetAlias.Type

export const AliasSet = Schema.Struct({ success: Schema.Literal(true), ...AliasView.fields })
const AliasRemoved = Schema.Struct({ success: Schema.Literal(true), alias: Schema.String })

const at = endpointsOf("modelAliases")

export class ModelAliases extends HttpApiGroup.make("modelAliases")
  .add(at("list").addSuccess(Schema.Struct({ aliases: Schema.Array(AliasView) })))
  .add(at("set").setPayload(SetAlias).addSuccess(AliasSet).addError(ConflictAnswer))
  .add(
    at("remove")
      .setUrlParams(Schema.Struct({ alias: Schema.optionalWith(Schema.String, { exact: true }) }))
      .setPayload(Schema.NullOr(Schema.Struct({ alias: optional(Schema.String) })))
      .addSuccess(AliasRemoved)
      .addError(NotFoundAnswer)
  ) {}
