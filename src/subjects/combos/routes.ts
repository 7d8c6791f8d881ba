/** Routing combos. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import { ComboStrategy } from "./entity.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { ConflictAnswer, NotFoundAnswer } from "../../contract/Errors.ts"
import {
  body,
  clearable,
  Created,
  nextCursor,
  total,
  NoContent,
  optional,
  ReadOnly,
  Text
} from "../../contract/Inputs.ts"
import { exampleId, exampleTime } from "../../contract/Examples.ts"
import { field } from "../../kernel/Documented.ts"

const targetWords = {
  model: ["What is called: `<provider>/<model>`, or `combo:<name>`.", "openai/gpt-4o-mini"],
  weight: ["Its share under the strategy `weighted`; without unit, 0 to 1,000,000.", 3],
  connectionId: ["Only this connection; null or absent: any connection of the provider.", null],
  label: ["A name for people.", "cheap"]
} as const

const TargetView = Schema.Struct({
  model: field(Schema.String, ...targetWords.model),
  weight: field(Schema.optionalWith(Schema.Number, { exact: true }), ...targetWords.weight),
  connectionId: field(Schema.optionalWith(Schema.NullOr(Schema.String), { exact: true }), ...targetWords.connectionId),
  label: field(Schema.optionalWith(Schema.String, { exact: true }), ...targetWords.label)
}).annotations({ identifier: "ComboTarget" })

/**
 * Config of a combo. Its fields are shown in the OpenAPI document only (`OpenApiDocument`): they are validated together
 * with the references of a combo.
 */
const Config = Schema.Record({ key: Schema.String, value: Schema.Unknown }).annotations({ identifier: "ComboConfig" })

const comboWords = {
  id: "Id of the combo, in paths of this API.",
  name: "Clients use it as a model id.",
  strategy: "How the targets are ordered for a request; docs/routing.md describes each.",
  targets: "What the combo chooses from.",
  config: "Settings of the strategy.",
  isActive: "Whether requests may use it."
} as const

export const ComboView = Schema.Struct({
  id: field(Schema.String, comboWords.id, "fast"),
  name: field(Schema.String, comboWords.name, "fast-and-cheap"),
  strategy: field(ComboStrategy, comboWords.strategy, "priority"),
  targets: field(Schema.Array(TargetView), comboWords.targets),
  config: field(Config, comboWords.config),
  isActive: field(Schema.Boolean, comboWords.isActive, true),
  createdAt: field(Schema.String, "When it was created, ISO 8601.", exampleTime),
  updatedAt: field(Schema.String, "When it was last changed, ISO 8601.", exampleTime)
}).annotations({ identifier: "Combo" })
export type ComboView = typeof ComboView.Type

const TargetInput = Schema.Struct({
  model: field(Text.pipe(Schema.maxLength(300)), ...targetWords.model),
  weight: field(
    optional(
      Schema.Number.pipe(
        Schema.filter((weight) => (weight >= 0 && weight <= 1_000_000 ? true : "must be a number from 0 to 1000000"))
      )
    ),
    ...targetWords.weight
  ),
  connectionId: field(clearable(Schema.String), ...targetWords.connectionId),
  label: field(optional(Schema.String.pipe(Schema.maxLength(200))), ...targetWords.label)
})

const ComboName = Schema.Trim.pipe(
  Schema.pattern(/^[\p{L}\p{N} \-_/.[\]]{1,100}$/u, {
    message: () => "must be 1 to 100 letters, digits, spaces or '-_/.[]'"
  })
)

const Targets = Schema.Array(TargetInput).pipe(Schema.maxItems(1000))

const comboSettings = {
  strategy: field(optional(ComboStrategy), comboWords.strategy, "priority"),
  targets: field(optional(Targets), comboWords.targets),
  config: field(optional(Config), comboWords.config),
  isActive: field(optional(Schema.Boolean), comboWords.isActive, true)
}

export const CreateCombo = Schema.Struct({
  id: field(
    optional(
      Schema.String.pipe(
        Schema.pattern(/^(?!auto$)[A-Za-z0-9._-]{1,100}$/, {
          message: () => "must be 1 to 100 letters, digits or '._-', and not 'auto'"
        })
      )
    ),
    comboWords.id,
    "fast"
  ),
  name: field(ComboName, comboWords.name, "fast-and-cheap"),
  ...comboSettings
}).annotations(body("CreateCombo"))
export type CreateCombo = typeof CreateCombo.Type

/** Update of a combo; an absent member stays as it is. */
export const UpdateCombo = Schema.Struct({
  name: field(optional(ComboName), comboWords.name, "fast-and-cheap"),
  ...comboSettings,
  id: ReadOnly,
  createdAt: ReadOnly,
  updatedAt: ReadOnly
}).annotations(body("UpdateCombo"))
export type UpdateCombo = typeof UpdateCombo.Type

const Combo = Schema.Struct({ combo: field(ComboView, "The combo.") }).annotations({ identifier: "ComboAnswer" })

const Tokens = Schema.NullOr(Schema.Number)

const limits = {
  contextLength: field(Tokens, "Tokens of prompt and answer together; null: unknown.", 128_000),
  maxOutputTokens: field(Tokens, "Tokens of the longest answer; null: unknown.", 16_384),
  context_length: field(Tokens, "The same as `contextLength`.", 128_000),
  max_output_tokens: field(Tokens, "The same as `maxOutputTokens`.", 16_384)
}

/** An automatic id with what it would choose from. Limits are the greatest of the pool, null when none is known. */
export const AutoComboView = Schema.Struct({
  id: field(Schema.String, "The model id clients use.", "auto/fast"),
  name: field(Schema.String, "The same, for people.", "auto/fast"),
  variant: field(Schema.String, "What comes after `auto/`.", "fast"),
  type: field(Schema.Literal("auto"), "Always `auto`."),
  isHidden: field(Schema.Boolean, "Whether it is left out of model lists.", false),
  candidatePool: field(
    Schema.Array(
      Schema.Struct({
        provider: field(Schema.String, "Id of the provider, or the prefix of a node.", "openai"),
        connectionId: field(Schema.String, "Id of the connection.", exampleId),
        model: field(Schema.String, "Id of the model at the provider.", "gpt-4o-mini"),
        ...limits
      })
    ),
    "What it would choose from now."
  ),
  candidateCount: field(Schema.Number, "Entries of `candidatePool`.", 1),
  ...limits,
  config: field(Schema.Record({ key: Schema.String, value: Schema.Unknown }), "Settings of its strategy.", {
    routerStrategy: "rules",
    modePack: "ship-fast",
    explorationRate: 0.05
  })
}).annotations({ identifier: "AutoCombo" })
export type AutoComboView = typeof AutoComboView.Type

export const comboListing = {
  sorts: ["name", "strategy", "createdAt", "updatedAt"],
  searched: "name, id, strategy, models of the targets",
  summary: ["id", "name", "strategy", "isActive", "targetCount"]
} as const

export const autoListing = {
  sorts: ["id", "candidateCount"],
  searched: "id",
  summary: ["id", "name", "variant", "type", "isHidden", "candidateCount"]
} as const

const at = endpointsOf("combos", { id: ["Id of the combo.", "fast"] })

export class Combos extends HttpApiGroup.make("combos")
  .annotate(OpenApi.Title, "Combos")
  .annotate(OpenApi.Description, "Named lists of models with a strategy. Clients use the name as a model id.")
  .add(
    at("list", {
      summary: "List combos",
      description: "All combos, the oldest first.",
      listed: comboListing
    }).addSuccess(
      Schema.Struct({
        combos: field(Schema.Array(ComboView), "The combos of the page."),
        nextCursor,
        total
      }).annotations({
        identifier: "ComboList"
      })
    )
  )
  .add(
    at("create", {
      summary: "Create a combo",
      description:
        "Clients ask for it by its name, as a model. Names are unique; targets of the form `combo:<name>` must exist, and no combo may contain itself.",
      example: {
        id: "fast",
        name: "fast-and-cheap",
        strategy: "priority",
        targets: [{ model: "openai/gpt-4o-mini" }, { model: "groq/llama-3.3-70b-versatile", label: "spare" }]
      }
    })
      .setPayload(CreateCombo)
      .addSuccess(Created(Combo))
      .addError(ConflictAnswer)
  )
  .add(
    at("auto", {
      summary: "List the automatic ids",
      description: "Every id of `auto` with what it would choose from now. Limits are the greatest of its pool.",
      listed: autoListing
    }).addSuccess(
      Schema.Struct({
        combos: field(Schema.Array(AutoComboView), "The ids of the page."),
        nextCursor,
        total
      }).annotations({
        identifier: "AutoComboList"
      })
    )
  )
  .add(
    at("get", { summary: "Show a combo", description: "The combo as it was saved." })
      .addSuccess(Combo)
      .addError(NotFoundAnswer)
  )
  .add(
    at("update", {
      summary: "Change a combo",
      description: "What is absent stays as it is; `targets` and `config` are replaced as a whole.",
      example: { strategy: "round-robin", isActive: true }
    })
      .setPayload(UpdateCombo)
      .addSuccess(Combo)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  )
  .add(
    at("remove", {
      summary: "Delete a combo",
      description: "Refused with 409 and their names while other combos use it."
    })
      .addSuccess(NoContent)
      .addError(NotFoundAnswer)
      .addError(ConflictAnswer)
  ) {}
