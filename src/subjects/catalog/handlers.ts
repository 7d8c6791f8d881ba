/** `/api/models/catalog`. */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import * as Effect from "effect/Effect"
import { contractOf } from "../../contract/GroupContract.ts"
import { ModelCatalog as ModelCatalogGroup, modelListing } from "./routes.ts"
import type { CatalogModel } from "./routes.ts"
import { mayManage } from "../auth/Access.ts"
import { type CatalogRow, ModelCatalog } from "./service.ts"
import { InnerCaller } from "../../entry/listening/InnerCaller.ts"
import { asJson, listAnswer, listed, type ListOf } from "../../entry/handling/Lists.ts"

const viewOf = ({ converses, facts, health, id, kind, model, price, provider, source }: CatalogRow): CatalogModel => ({
  id,
  kind,
  provider,
  model,
  name: facts?.name ?? null,
  source,
  contextLength: facts?.contextLength ?? null,
  maxOutputTokens: facts?.maxOutputTokens ?? null,
  capabilities:
    facts === null
      ? null
      : {
          vision: facts.vision,
          reasoning: facts.reasoning,
          toolCalling: facts.toolCalling,
          structuredOutput: facts.structuredOutput
        },
  converses,
  price: price?.price ?? null,
  priceSource: price?.source ?? null,
  priceDated: price?.dated ?? null,
  health
})

const listOf: ListOf<CatalogRow, typeof modelListing> = {
  listing: modelListing,
  idOf: ({ id, kind }) => `${kind} ${id}`,
  texts: ({ id }) => [id],
  sorts: {
    id: ({ id }) => id,
    kind: ({ kind }) => kind,
    provider: ({ provider }) => provider,
    contextLength: ({ facts }) => facts?.contextLength ?? null
  },
  filters: {
    kind: (row, kind) => row.kind === kind,
    provider: (row, provider) => row.provider === provider,
    connectionId: ({ health }, id) => health.some(({ connectionId }) => connectionId === id),
    priced: ({ kind, price }, priced) => kind === "model" && (price !== null) === (priced === "true")
  }
}

const summaryOf = ({ converses, id, kind, model, provider, source }: CatalogRow) => ({
  id,
  kind,
  provider,
  model,
  source,
  converses
})

export const layer = HttpApiBuilder.group(contractOf(ModelCatalogGroup), "modelCatalog", (handlers) =>
  Effect.map(ModelCatalog, (catalog) =>
    handlers.handle("list", () =>
      Effect.gen(function* () {
        const principal = (yield* InnerCaller)?.principal
        // Over HTTP only managers ask, and they see all.
        const key = principal?._tag === "Key" && !mayManage(principal.key) ? principal.key : null
        const page = yield* listed(yield* catalog.list(key), listOf)
        return yield* listAnswer("models", page, asJson(page.isSummary ? summaryOf : viewOf))
      })
    )
  )
)
