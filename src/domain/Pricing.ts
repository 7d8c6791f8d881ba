/**
 * Prices in USD per 1,000,000 tokens, as `/api/pricing` shows them.
 * No `cached` price means cached tokens cost the input price; reasoning tokens are inside the output.
 */
import * as Schema from "effect/Schema"
import { field } from "../kernel/Documented.ts"

/** Meaning and example of each price. */
export const priceWords = {
  input: ["USD per 1,000,000 tokens of the prompt.", 0.15],
  output: ["USD per 1,000,000 tokens of the answer, reasoning included.", 0.6],
  cached: ["USD per 1,000,000 tokens read from the provider's cache; absent: the price of `input`.", 0.075],
  cacheCreation: ["USD per 1,000,000 tokens written to the provider's cache; absent: the price of `input`.", 0.19],
  cacheCreation1h: [
    "USD per 1,000,000 tokens written to the provider's cache for an hour, where the provider tells them apart; absent: the price of `cacheCreation`.",
    0.3
  ],
  reasoning: ["USD per 1,000,000 tokens of reasoning; absent: the price of `output`.", 0.6],
  perImage: [
    "USD per image; or by `<size>/<quality>` and `<size>`, where an image of none of them has no price.",
    { "1024x1024": 0.04, "1024x1024/hd": 0.08 }
  ],
  perSecond: ["USD per second of sound or film.", 0.0001],
  perCharacter: ["USD per character that is spoken.", 0.000015],
  perSearchUnit: ["USD per search, or per unit of a ranking.", 0.002],
  perPage: ["USD per page that is read.", 0.001]
} as const

/** A million dollars for a million tokens: far above any price, and small enough for sums to stay exact. */
const mostUsdPer1M = 1_000_000

const PricePer1M = Schema.NonNegative

/** Far above any price of one image, second, character, search or page. */
const mostUsdPerUnit = 1_000_000

const PricePerUnit = Schema.NonNegative.pipe(
  Schema.lessThanOrEqualTo(mostUsdPerUnit, { message: () => `must be at most ${mostUsdPerUnit} USD` })
)
const maybe = <A, I, R>(schema: Schema.Schema<A, I, R>) => Schema.optionalWith(schema, { exact: true })

/** Prices in USD that do not count tokens. */
export const unitPrices = {
  perImage: Schema.Union(PricePerUnit, Schema.Record({ key: Schema.String, value: PricePerUnit })),
  perSecond: PricePerUnit,
  perCharacter: PricePerUnit,
  perSearchUnit: PricePerUnit,
  perPage: PricePerUnit
} as const

export const unitPriceFields = {
  perImage: field(maybe(unitPrices.perImage), ...priceWords.perImage),
  perSecond: field(maybe(unitPrices.perSecond), ...priceWords.perSecond),
  perCharacter: field(maybe(unitPrices.perCharacter), ...priceWords.perCharacter),
  perSearchUnit: field(maybe(unitPrices.perSearchUnit), ...priceWords.perSearchUnit),
  perPage: field(maybe(unitPrices.perPage), ...priceWords.perPage)
}

/** A price as it may be given. */
export const PriceInput = PricePer1M.pipe(
  Schema.lessThanOrEqualTo(mostUsdPer1M, { message: () => `must be at most ${mostUsdPer1M} USD per 1,000,000 tokens` })
)

export const ModelPrice = Schema.Struct({
  input: field(PricePer1M, ...priceWords.input),
  output: field(PricePer1M, ...priceWords.output),
  cached: field(Schema.optionalWith(PricePer1M, { exact: true }), ...priceWords.cached),
  cacheCreation: field(Schema.optionalWith(PricePer1M, { exact: true }), ...priceWords.cacheCreation),
  cacheCreation1h: field(Schema.optionalWith(PricePer1M, { exact: true }), ...priceWords.cacheCreation1h),
  reasoning: field(Schema.optionalWith(PricePer1M, { exact: true }), ...priceWords.reasoning),
  ...unitPriceFields
}).annotations({ identifier: "ModelPrice" })
export type ModelPrice = typeof ModelPrice.Type

/** A price, and where it comes from when that was asked for. */
export const SourcedModelPrice = Schema.Struct({
  ...ModelPrice.fields,
  source: field(
    Schema.optionalWith(Schema.Literal("override", "synced", "embedded"), { exact: true }),
    "Who says so: the operator, a fetched table, or the table the gateway comes with; only with `includeSources`.",
    "embedded"
  ),
  dated: field(
    Schema.optionalWith(Schema.NullOr(Schema.String), { exact: true }),
    "The day the price is of; null: it was set here; only with `includeSources`.",
    "2035-01-01"
  )
}).annotations({ identifier: "SourcedModelPrice" })

/** provider → model → price with its source. */
export const SourcedPriceTable = Schema.Record({
  key: Schema.String,
  value: Schema.Record({ key: Schema.String, value: SourcedModelPrice })
}).annotations({
  identifier: "SourcedPriceTable",
  examples: [{ openai: { "gpt-4o-mini": { input: 0.15, output: 0.6, cached: 0.075 } } }]
})

/** provider → model → price. */
export const PriceTable = Schema.Record({
  key: Schema.String,
  value: Schema.Record({ key: Schema.String, value: ModelPrice })
}).annotations({
  identifier: "PriceTable",
  examples: [{ openai: { "gpt-4o-mini": { input: 0.15, output: 0.6, cached: 0.075 } } }]
})
export type PriceTable = typeof PriceTable.Type
