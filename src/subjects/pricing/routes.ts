/** Prices in USD per 1,000,000 tokens. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import * as Schema from "effect/Schema"
import {
  conditions,
  MinSeconds,
  ModelPrice,
  PriceInput,
  PriceTable,
  priceWords,
  SourcedPriceTable,
  unitPrices
} from "./entity.ts"
import { endpointsOf } from "../../contract/Endpoints.ts"
import { optional } from "../../contract/Inputs.ts"
import { field } from "../../kernel/Documented.ts"

const isMissing = (name: string) => ({ path: [name], message: "is missing" })

/** Prices of tokens may be absent where something else is paid for. */
const GivenPrice = Schema.Struct({
  input: field(optional(PriceInput), ...priceWords.input),
  output: field(optional(PriceInput), ...priceWords.output),
  cached: field(optional(PriceInput), ...priceWords.cached),
  cacheCreation: field(optional(PriceInput), ...priceWords.cacheCreation),
  cacheCreation1h: field(optional(PriceInput), ...priceWords.cacheCreation1h),
  reasoning: field(optional(PriceInput), ...priceWords.reasoning),
  citation: field(optional(PriceInput), ...priceWords.citation),
  inputAudio: field(optional(PriceInput), ...priceWords.inputAudio),
  inputImage: field(optional(PriceInput), ...priceWords.inputImage),
  inputVideo: field(optional(PriceInput), ...priceWords.inputVideo),
  cachedAudio: field(optional(PriceInput), ...priceWords.cachedAudio),
  cachedImage: field(optional(PriceInput), ...priceWords.cachedImage),
  cachedVideo: field(optional(PriceInput), ...priceWords.cachedVideo),
  outputAudio: field(optional(PriceInput), ...priceWords.outputAudio),
  outputImage: field(optional(PriceInput), ...priceWords.outputImage),
  outputVideo: field(optional(PriceInput), ...priceWords.outputVideo),
  perImage: field(optional(unitPrices.perImage), ...priceWords.perImage),
  perSecond: field(optional(unitPrices.perSecond), ...priceWords.perSecond),
  perCharacter: field(optional(unitPrices.perCharacter), ...priceWords.perCharacter),
  perSearchUnit: field(optional(unitPrices.perSearchUnit), ...priceWords.perSearchUnit),
  perPage: field(optional(unitPrices.perPage), ...priceWords.perPage),
  perRequest: field(optional(unitPrices.perRequest), ...priceWords.perRequest),
  perWebSearch: field(optional(unitPrices.perWebSearch), ...priceWords.perWebSearch),
  perGroundedAnswer: field(optional(unitPrices.perGroundedAnswer), ...priceWords.perGroundedAnswer),
  perFileSearch: field(optional(unitPrices.perFileSearch), ...priceWords.perFileSearch),
  perCodeExecution: field(optional(unitPrices.perCodeExecution), ...priceWords.perCodeExecution),
  minSeconds: field(optional(MinSeconds), ...priceWords.minSeconds),
  tiers: field(optional(conditions.tiers), ...priceWords.tiers),
  serviceTiers: field(optional(conditions.serviceTiers), ...priceWords.serviceTiers),
  speeds: field(optional(conditions.speeds), ...priceWords.speeds),
  geos: field(optional(conditions.geos), ...priceWords.geos)
})
  .pipe(
    Schema.filter(({ input, output, ...others }) => {
      if (input === undefined && output === undefined && Object.keys(unitPrices).some((name) => name in others)) {
        return []
      }
      return [
        ...(input === undefined ? [isMissing("input")] : []),
        ...(output === undefined ? [isMissing("output")] : [])
      ]
    })
  )
  .annotations({ identifier: "ModelPriceInput" })

export const ModelPriceInput = Schema.transform(GivenPrice, Schema.typeSchema(ModelPrice), {
  strict: true,
  decode: (given) => ({ ...given, input: given.input ?? 0, output: given.output ?? 0 }),
  encode: (price) => price
})

const PricePatch = Schema.Record({
  key: Schema.String,
  value: Schema.Record({ key: Schema.String, value: Schema.NullOr(ModelPriceInput) })
}).annotations({
  identifier: "PricePatch",
  examples: [{ openai: { "gpt-4o-mini": { input: 0.15, output: 0.6, cached: 0.075 } } }]
})

/** PATCH lays the given models over the table and answers the whole. */
const at = endpointsOf("pricing")

export class Pricing extends HttpApiGroup.make("pricing")
  .annotate(OpenApi.Title, "Prices")
  .annotate(OpenApi.Description, "Prices in USD per 1,000,000 tokens that win over the ones the gateway comes with.")
  .add(
    at("get", {
      summary: "List prices",
      description:
        "The prices that were set, by provider and model. With `includeSources` also those of all models that can be routed to, each with where it comes from and its day."
    })
      .setUrlParams(
        Schema.Struct({
          includeSources: field(
            Schema.optionalWith(
              Schema.transform(Schema.Literal("", "true", "false", "1", "0"), Schema.Boolean, {
                strict: true,
                decode: (text) => text !== "false" && text !== "0",
                encode: (value) => (value ? "true" : "false")
              }),
              { exact: true }
            ),
            "Whether to say where prices come from; absent: false.",
            true
          )
        }).annotations({ parseOptions: { onExcessProperty: "error" } })
      )
      .addSuccess(SourcedPriceTable)
  )
  .add(
    at("reset", {
      summary: "Reset prices",
      description: "Removes all prices that were set; those the gateway comes with or has fetched count again."
    }).addSuccess(PriceTable)
  )
  .add(
    at("update", {
      summary: "Set prices",
      description:
        "Lays the given models over the table and answers the whole. A model's price is replaced as a whole; null removes it, and the price the gateway comes with counts again.",
      example: { openai: { "gpt-4o-mini": { input: 0.15, output: 0.6, cached: 0.075 } } }
    })
      .setPayload(PricePatch)
      .addSuccess(PriceTable)
  ) {}
