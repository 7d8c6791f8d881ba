/**
 * Prices in USD per 1,000,000 tokens (contract B3 `/api/pricing`).
 * No `cached` price means cached tokens cost the input price; reasoning tokens are inside the output.
 */
import * as Schema from "effect/Schema"

const PricePer1M = Schema.NonNegative

export const ModelPrice = Schema.Struct({
  input: PricePer1M,
  output: PricePer1M,
  cached: Schema.optionalWith(PricePer1M, { exact: true }),
  cacheCreation: Schema.optionalWith(PricePer1M, { exact: true }),
  reasoning: Schema.optionalWith(PricePer1M, { exact: true })
}).annotations({ identifier: "ModelPrice" })
export type ModelPrice = typeof ModelPrice.Type

/** provider → model → price. */
export const PriceTable = Schema.Record({
  key: Schema.String,
  value: Schema.Record({ key: Schema.String, value: ModelPrice })
})
export type PriceTable = typeof PriceTable.Type
