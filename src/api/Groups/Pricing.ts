/** Prices in USD per 1,000,000 tokens (contract B3 `/api/pricing`). */
import * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import { PriceTable } from "../../domain/Pricing.ts"

/** PATCH lays the given models over the table and answers the whole. */
export class Pricing extends HttpApiGroup.make("pricing")
  .add(HttpApiEndpoint.get("get", "/api/pricing").addSuccess(PriceTable))
  .add(HttpApiEndpoint.patch("update", "/api/pricing").setPayload(PriceTable).addSuccess(PriceTable)) {}
