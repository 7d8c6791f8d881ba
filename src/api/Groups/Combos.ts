/** Routing combos. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { ComboStrategy } from "../../domain/Combo.ts"
import { endpointsOf } from "../Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../Errors.ts"
import { body, clearable, Created, NoContent, optional, ReadOnly, Text } from "../Inputs.ts"

const TargetView = Schema.Struct({
  model: Schema.String,
  weight: Schema.optionalWith(Schema.Number, { exact: true }),
  connectionId: Schema.optionalWith(Schema.NullOr(Schema.String), { exact: true }),
  label: Schema.optionalWith(Schema.String, { exact: true })
})

/** Only the OpenAPI document shows its fields (`OpenApiDocument`): they are validated together with the references of a combo. */
const Config = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({ identifier: "ComboConfig" })

export const ComboView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  strategy: ComboStrategy,
  targets: Schema.Array(TargetView),
  config: Config,
  isActive: Schema.Boolean,
  createdAt: Schema.String,
  updatedAt: Schema.String
}).annotations({ identifier: "Combo" })
export type ComboView = typeof ComboView.Type

/** `model` is `<provider>/<model>` or `combo:<name>`. */
const TargetInput = Schema.Struct({
  model: Text.pipe(Schema.maxLength(300)),
  weight: optional(
    Schema.Number.pipe(
      Schema.filter((weight) => (weight >= 0 && weight <= 1_000_000 ? true : "must be a number from 0 to 1000000"))
    )
  ),
  connectionId: clearable(Schema.String),
  label: optional(Schema.String.pipe(Schema.maxLength(200)))
})

const ComboName = Schema.Trim.pipe(
  Schema.pattern(/^[\p{L}\p{N} \-_/.[\]]{1,100}$/u, {
    message: () => "must be 1 to 100 letters, digits, spaces or '-_/.[]'"
  })
)

const Targets = Schema.Array(TargetInput).pipe(Schema.maxItems(1000))
export const CreateCombo = Schema.Struct({
  id: optional(
    Schema.String.pipe(
      Schema.pattern(/^(?!auto$)[A-Za-z0-9._-]{1,100}$/, {
        message: () => "must be 1 to 100 letters, digits or '._-', and not 'auto'"
      })
    )
  ),
  name: ComboName,
  strategy: optional(ComboStrategy),
  targets: optional(Targets),
  config: optional(Config),
  isActive: optional(Schema.Boolean)
}).annotations(body("CreateCombo"))
export type CreateCombo = typeof CreateCombo.Type

/** What is absent stays as it is. */
const UpdateCombo = Schema.Struct({
  name: optional(ComboName),
  strategy: optional(ComboStrategy),
  targets: optional(Targets),
  config: optional(Config),
  isActive: optional(Schema.Boolean),
  id: ReadOnly,
  createdAt: ReadOnly,
  updatedAt: ReadOnly
}).annotations(body("UpdateCombo"))
export type UpdateCombo = typeof UpdateCombo.Type

const Combo = Schema.Struct({ combo: ComboView })

const Tokens = Schema.NullOr(Schema.Number)

/** An automatic id with what it would choose from. Limits are the greatest of the pool, null when none is known. */
export const AutoComboView = Schema.Struct({
  id: Schema.String,
  name: Schema.String,
  variant: Schema.String,
  type: Schema.Literal("auto"),
  isHidden: Schema.Boolean,
  candidatePool: Schema.Array(
    Schema.Struct({
      provider: Schema.String,
      connectionId: Schema.String,
      model: Schema.String,
      context_length: Tokens,
      max_output_tokens: Tokens
    })
  ),
  candidateCount: Schema.Number,
  context_length: Tokens,
  max_output_tokens: Tokens,
  config: Schema.Record({ key: Schema.String, value: Schema.Unknown })
}).annotations({ identifier: "AutoCombo" })
export type AutoComboView = typeof AutoComboView.Type

const at = endpointsOf("combos")

export class Combos extends HttpApiGroup.make("combos")
  .add(at("list").addSuccess(Schema.Struct({ combos: Schema.Array(ComboView) })))
  .add(at("create").setPayload(CreateCombo).addSuccess(Created(Combo)).addError(ConflictAnswer))
  .add(at("auto").addSuccess(Schema.Struct({ combos: Schema.Array(AutoComboView) })))
  .add(at("get").addSuccess(Combo).addError(NotFoundAnswer))
  .add(at("update").setPayload(UpdateCombo).addSuccess(Combo).addError(NotFoundAnswer).addError(ConflictAnswer))
  .add(at("remove").addSuccess(NoContent).addError(NotFoundAnswer).addError(ConflictAnswer)) {}
