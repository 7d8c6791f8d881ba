/**
 * Prices in USD per 1,000,000 tokens, as `/api/pricing` shows them.
 * No `cached` price means cached tokens cost the input price; reasoning tokens are inside the output.
 */
import * as Schema from "effect/Schema"

/** A million dollars for a million tokens: far above any price, and small enough for sums to stay exact. */
const mostUsdPer1M = 1_000_000

const PricePer1M = Schema.NonNegative

/** A price as it may be given. */
export const PriceInput = PricePer1M.pipe(
  Schema.lessThanOrEqualTo(mostUsdPer1M, { message: () => `must be at most ${mostUsdPer1M} USD per 1,000,000 tokens` })
)

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
