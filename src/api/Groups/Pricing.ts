/** Prices in USD per 1,000,000 tokens (contract B3 `/api/pricing`). */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { PriceTable } from "../../domain/Pricing.ts"
import { optional } from "../Inputs.ts"

const Usd = Schema.NonNegative.pipe(Schema.finite())

const PriceInput = Schema.Struct({
  input: Usd,
  output: Usd,
  cached: optional(Usd),
  cacheCreation: optional(Usd),
  reasoning: optional(Usd)
}).annotations({ identifier: "ModelPriceInput" })

const PricePatch = Schema.Record({
  key: Schema.String,
  value: Schema.Record({ key: Schema.String, value: PriceInput })
})

/** PATCH lays the given models over the table and answers the whole. */
export class Pricing extends HttpApiGroup.make("pricing")
  .add(HttpApiEndpoint.get("get", "/api/pricing").addSuccess(PriceTable))
  .add(HttpApiEndpoint.patch("update", "/api/pricing").setPayload(PricePatch).addSuccess(PriceTable)) {}
