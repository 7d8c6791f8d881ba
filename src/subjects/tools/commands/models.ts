/** The models that a gateway offers to a tool, with what is known of them. */
import * as Effect from "effect/Effect"
import type { ModelPrice } from "../../pricing/entity.ts"
import type { OfferedModel } from "../../../agents/tools/config/Chosen.ts"
import { converses } from "../../../plane/providers/ChatModels.ts"
import { unknownFacts } from "../../../plane/providers/ModelFacts.ts"
import type { CliFailure } from "../../../cli/Failure.ts"
import * as Client from "../../../cli/gateway/Client.ts"
import { loadModule } from "../../../cli/lazy.ts"

const priceOf = ({ cacheCreation, cached, input, output }: ModelPrice): NonNullable<OfferedModel["price"]> => ({
  input,
  output,
  ...(cached === undefined ? {} : { cacheRead: cached }),
  ...(cacheCreation === undefined ? {} : { cacheWrite: cacheCreation })
})

/**
 * Lists the models of the catalogue, which has more details and needs management access; with another key those that it
 * may ask for.
 */
export const offeredModels = (to: Client.Target): Effect.Effect<ReadonlyArray<OfferedModel>, CliFailure> => {
  const fromCatalogue = Effect.gen(function* () {
    const client = yield* Client.group(to, "modelCatalog")
    const { models } = yield* client.list().pipe(Client.orExplain(to))
    return models
      .filter(({ capabilities }) => capabilities?.toolCalling !== false)
      .map(
        ({ capabilities, contextLength, converses: known, id, kind, maxOutputTokens, model, price }): OfferedModel => ({
          id,
          kind,
          // A gateway of an earlier version does not say so.
          converses: known ?? (model === null || converses(model, unknownFacts, null)),
          contextLength,
          maxOutputTokens,
          vision: capabilities?.vision ?? null,
          reasoning: capabilities?.reasoning ?? null,
          price: price === null ? null : priceOf(price)
        })
      )
  })
  const fromList = Effect.gen(function* () {
    const client = yield* Client.inference(to)
    const { registry } = yield* loadModule(() => import("../../../plane/providers/Registry.ts"))
    const { data } = yield* client.models().pipe(Client.orExplain(to))
    return data.map(({ context_length: contextLength, id, owned_by: owner, ...more }): OfferedModel => ({
      id,
      converses: converses(
        id,
        { inputModalities: more.input_modalities ?? null, outputModalities: more.output_modalities ?? null },
        registry.get(owner) ?? null
      ),
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
