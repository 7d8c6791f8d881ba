/** Prices in USD per 1,000,000 tokens. */
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as Schema from "effect/Schema"
import { PriceInput, PriceTable } from "../../domain/Pricing.ts"
import { endpointsOf } from "../Endpoints.ts"
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
const at = endpointsOf("pricing")

export class Pricing extends HttpApiGroup.make("pricing")
  .add(at("get").addSuccess(PriceTable))
  .add(at("update").setPayload(PricePatch).addSuccess(PriceTable)) {}
