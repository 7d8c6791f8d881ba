/** `/api/pricing`: what the operator wrote over the embedded prices. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { Pricing } from "./routes.ts"
import { BadRequest, Unavailable } from "../../contract/Errors.ts"
import { ModelCatalog } from "../catalog/service.ts"
import { PriceBook, type PriceOverridesUnavailable } from "../../observe/usage/PriceBook.ts"

const notSaved = (error: PriceOverridesUnavailable) =>
  Effect.zipRight(
    Effect.logError("Prices could not be saved.", error),
    new Unavailable({ message: "The prices could not be saved; the gateway's log has the details." })
  )

export const layer = HttpApiBuilder.group(contractOf(Pricing), "pricing", (handlers) =>
  Effect.gen(function* () {
    const prices = yield* PriceBook
    const catalog = yield* ModelCatalog
    const sourced = Effect.map(catalog.prices, (table) =>
      Object.fromEntries(
        Array.from(table, ([provider, models]) => [
          provider,
          Object.fromEntries(
            Array.from(models, ([model, { dated, price, source }]) => [model, Object.assign({ source, dated }, price)])
          )
        ])
      )
    )
    return handlers
      .handle("get", ({ urlParams: { includeSources = false } }) => (includeSources ? sourced : prices.overrides))
      .handle("reset", () => Effect.as(Effect.catchTag(prices.reset, "PriceOverridesUnavailable", notSaved), {}))
      .handle("update", ({ payload }) =>
        Effect.catchTags(prices.patch(payload), {
          TooManyPriceOverrides: ({ limit }) => new BadRequest({ message: `At most ${limit} prices can be kept.` }),
          PriceOverridesUnavailable: notSaved
        })
      )
  })
)
