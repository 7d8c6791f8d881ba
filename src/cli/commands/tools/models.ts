/** The models that a gateway offers to a tool, with what is known of them. */
import * as Effect from "effect/Effect"
import type { ModelPrice } from "../../../domain/Pricing.ts"
import type { OfferedModel } from "../../../tools/config/Chosen.ts"
import type { CliFailure } from "../../Failure.ts"
import * as Client from "../../gateway/Client.ts"

const priceOf = ({ cacheCreation, cached, input, output }: ModelPrice): NonNullable<OfferedModel["price"]> => ({
  input,
  output,
  ...(cached === undefined ? {} : { cacheRead: cached }),
  ...(cacheCreation === undefined ? {} : { cacheWrite: cacheCreation })
})

/** Of the catalogue, which says more and needs management access; with another key what it may ask for. */
export const offeredModels = (to: Client.Target): Effect.Effect<ReadonlyArray<OfferedModel>, CliFailure> => {
  const fromCatalogue = Effect.gen(function* () {
    const client = yield* Client.group(to, "modelCatalog")
    const { models } = yield* client.list().pipe(Client.orExplain(to))
    return models
      .filter(({ capabilities }) => capabilities?.toolCalling !== false)
      .map(({ capabilities, contextLength, id, kind, maxOutputTokens, price }): OfferedModel => ({
        id,
        kind,
        contextLength,
        maxOutputTokens,
        vision: capabilities?.vision ?? null,
        reasoning: capabilities?.reasoning ?? null,
        price: price === null ? null : priceOf(price)
      }))
  })
  const fromList = Effect.gen(function* () {
    const client = yield* Client.inference(to)
    const { data } = yield* client.models().pipe(Client.orExplain(to))
    return data.map(({ context_length: contextLength, id, owned_by: owner }): OfferedModel => ({
      id,
      kind: owner === "combo" ? "combo" : id === "auto" || id.startsWith("auto/") ? "auto" : "model",
      contextLength: contextLength ?? null,
      maxOutputTokens: null,
      vision: null,
      reasoning: null,
      price: null
    }))
  })
  return Effect.catchTag(fromCatalogue, "AuthRefused", () => fromList)
}
