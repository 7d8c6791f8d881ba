/** Prices in USD per 1,000,000 tokens (contract B3 `/api/pricing`). */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { PriceInput, PriceTable } from "../../domain/Pricing.ts"
import { optional } from "../Inputs.ts"

const ModelPriceInput = Schema.Struct({
  input: PriceInput,
  output: PriceInput,
  cached: optional(PriceInput),
  cacheCreation: optional(PriceInput),
  reasoning: optional(PriceInput)
}).annotations({ identifier: "ModelPriceInput" })

const PricePatch = Schema.Record({
  key: Schema.String,
  value: Schema.Record({ key: Schema.String, value: ModelPriceInput })
})

/** PATCH lays the given models over the table and answers the whole. */
export class Pricing extends HttpApiGroup.make("pricing")
  .add(HttpApiEndpoint.get("get", "/api/pricing").addSuccess(PriceTable))
  .add(HttpApiEndpoint.patch("update", "/api/pricing").setPayload(PricePatch).addSuccess(PriceTable)) {}
