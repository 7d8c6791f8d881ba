/** `/api/pricing`: what the operator wrote over the embedded prices. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { GatewayApi } from "../../api/Api.ts"
import { BadRequest, Unavailable } from "../../api/Errors.ts"
import { PriceBook } from "../../usage/PriceBook.ts"

export const layer = HttpApiBuilder.group(GatewayApi, "pricing", (handlers) =>
  Effect.gen(function* () {
    const prices = yield* PriceBook
    return handlers
      .handle("get", () => prices.overrides)
      .handle("update", ({ payload }) =>
        Effect.catchTags(prices.patch(payload), {
          TooManyPriceOverrides: ({ limit }) => new BadRequest({ message: `At most ${limit} prices can be kept.` }),
          PriceOverridesUnavailable: (error) =>
            Effect.zipRight(
              Effect.logError("Prices could not be saved.", error),
              new Unavailable({ message: "The prices could not be saved; the gateway's log has the details." })
            )
        })
      )
  })
)
