/** The schema of a combo's `config` as it is sent, stored and shown: nothing is filled in, and null counts as not given. */
import * as Schema from "effect/Schema"
import { anyFields, configExamples, defaults, evalDefaults, fusionDefaults, slaDefaults } from "./ConfigFields.ts"

type Fields = Readonly<Record<string, Schema.Schema.AnyNoContext>>
type Optional<F extends Fields> = {
  readonly [K in keyof F]: Schema.optionalWith<Schema.NullOr<F[K]>, { readonly exact: true }>
}

const examples: Readonly<Record<string, unknown>> = configExamples

const withDefault = (field: Schema.Schema.AnyNoContext, value: unknown) =>
  value === undefined ? field : field.annotations({ default: value })

const withExample = (field: Schema.Schema.AnyNoContext, example: unknown) =>
  example === undefined ? field : field.annotations({ examples: [example] })

const optional = <F extends Fields>(fields: F, values: Readonly<Record<string, unknown>>): Optional<F> =>
  Object.fromEntries(
    Object.entries(fields).map(([key, field]) => [
      key,
      Schema.optionalWith(Schema.NullOr(withExample(withDefault(field, values[key]), examples[key])), { exact: true })
    ])
  ) as Optional<F>

/** Unknown keys are kept. */
const others = { key: Schema.String, value: Schema.Unknown }

const { nested, plain } = anyFields

export const ComboConfig = Schema.Struct(
  {
    ...optional(plain, defaults),
    ...optional(
      {
        auto: Schema.Struct(optional(nested.auto, {}), others).annotations({
          description: "The older place of the fields of the strategy auto."
        }),
        sla: Schema.Struct(optional(nested.sla, slaDefaults), others).annotations({
          description: "Service levels that the router strategy sla-aware goes by."
        }),
        fusionTuning: Schema.Struct(optional(nested.fusionTuning, fusionDefaults), others).annotations({
          description: "Who of a fusion panel is waited for, and until when."
        }),
        evalRouting: Schema.Struct(optional(nested.evalRouting, evalDefaults), others).annotations({
          description:
            "Whether targets whose models did well in evaluations come first. Not for fusion and quota shares."
        })
      },
      {}
    )
  },
  others
).annotations({
  examples: [{ maxRetries: 1, setRetryDelayMs: 2_000 }],
  description:
    "What a combo goes by. Keys that are not known are kept; one that looks like a mistyped known key is refused."
})
export type ComboConfig = typeof ComboConfig.Type
