/** All that requests can be routed to: models of connections, combos and automatic ids, with prices and what is known of them. */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ApiKey } from "../keys/entity.ts"
import { type Account, Catalog } from "../../plane/providers/Catalog.ts"
import { converses } from "../../plane/providers/ChatModels.ts"
import type { ModelFacts } from "../../plane/providers/ModelFacts.ts"
import { ModelLists } from "../../plane/providers/ModelLists.ts"
import { isOffered, usesAnyModel } from "../../plane/routing/resolve/KeyModels.ts"
import { autoIds, resolve } from "../../plane/routing/resolve/ModelResolver.ts"
import { PriceBook, type SourcedPrice } from "../../observe/usage/PriceBook.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import { Resilience } from "../resilience/service.ts"
import type { Standing } from "../connections/Standings.ts"

/** Source of the fact that the model exists. */
export type ModelSource = "declared" | "connection" | "upstream" | "registry"

export interface CatalogRow {
  /** Name that a client asks for. */
  readonly id: string
  readonly kind: "model" | "combo" | "auto" | "alias"
  readonly provider: string | null
  readonly model: string | null
  readonly source: ModelSource | null
  readonly facts: ModelFacts | null
  /** True when it can hold a conversation; for a combo or an alias: when one of its models can. */
  readonly converses: boolean
  readonly price: SourcedPrice | null
  /** Health by connection; empty where it is no model. */
  readonly health: ReadonlyArray<{ readonly connectionId: string; readonly name: string; readonly state: Standing }>
}

export class ModelCatalog extends Context.Tag("gateway/subjects/catalog/ModelCatalog")<
  ModelCatalog,
  {
    /** Lists the part of it that a key may use; null: all. */
    readonly list: (key: ApiKey | null) => Effect.Effect<ReadonlyArray<CatalogRow>>
    /** Every price that is known: the operator's, and those of the models that can be routed to. */
    readonly prices: Effect.Effect<ReadonlyMap<string, ReadonlyMap<string, SourcedPrice>>>
  }
>() {}

const plain = { provider: null, model: null, source: null, facts: null, price: null, health: [] } as const

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog
  const lists = yield* ModelLists
  const prices = yield* PriceBook
  const resilience = yield* Resilience
  const slices = yield* Slices

  const sourceOf = ({ connection, spec }: Account, model: string): ModelSource => {
    if (catalog.current().declared.get(spec.id)?.has(model) === true) return "declared"
    if (connection.models.includes(model)) return "connection"
    return lists.known(connection.id).includes(model) ? "upstream" : "registry"
  }

  const models = Effect.fnUntraced(function* (standings: ReadonlyMap<string, Standing>) {
    const rows = new Map<string, CatalogRow & { readonly health: Array<CatalogRow["health"][number]> }>()
    yield* slices.each(catalog.current().accounts, (account) => {
      const { connection, spec } = account
      const here = {
        connectionId: connection.id,
        name: connection.name,
        state: standings.get(connection.id) ?? "available"
      }
      for (const model of catalog.modelsOf(account)) {
        const id = `${spec.id}/${model}`
        const known = rows.get(id)
        if (known !== undefined) known.health.push(here)
        else {
          const facts = catalog.factsOf(account, model)
          rows.set(id, {
            id,
            kind: "model",
            provider: spec.id,
            model,
            source: sourceOf(account, model),
            facts,
            converses: converses(model, facts, spec),
            price: prices.sourced(spec.id, model),
            health: [here]
          })
        }
      }
    })
    return [...rows.values()]
  })

  /** One that leads nowhere now may converse when it does. */
  const oneConverses = (id: string): boolean => {
    const { factsOf, modelsOf } = catalog
    const found = resolve({ catalog: catalog.current(), factsOf, modelsOf }, id)
    return (
      found instanceof Error ||
      found.targets.some(({ account, model }) => converses(model, factsOf(account, model), account.spec))
    )
  }

  const all = Effect.gen(function* () {
    const accounts = yield* resilience.accounts
    const { aliases, combos } = catalog.current()
    const standings = new Map(accounts.map(({ connection, standing }) => [connection.id, standing]))
    const rows: Array<CatalogRow> = yield* models(standings)
    const add = (kind: CatalogRow["kind"], ids: Iterable<string>) =>
      slices.each(ids, (id) => rows.push({ ...plain, id, kind, converses: kind === "auto" || oneConverses(id) }))
    yield* add("combo", combos.keys())
    yield* add("auto", autoIds)
    yield* add("alias", aliases.keys())
    return rows
  })

  const list = (key: ApiKey | null) => {
    if (key === null || usesAnyModel(key)) return all
    const view = { catalog: catalog.current(), modelsOf: catalog.modelsOf, factsOf: catalog.factsOf }
    return Effect.gen(function* () {
      const offered: Array<CatalogRow> = []
      yield* slices.each(yield* all, (row) => {
        if (isOffered(key, row.id, () => resolve(view, row.id))) offered.push(row)
      })
      return offered
    })
  }

  const known = Effect.gen(function* () {
    const table = new Map<string, Map<string, SourcedPrice>>()
    const add = (provider: string, model: string): void => {
      const price = prices.sourced(provider, model)
      if (price === null) return
      const ofProvider = table.get(provider) ?? new Map<string, SourcedPrice>()
      table.set(provider, ofProvider.set(model, price))
    }
    for (const [provider, models] of Object.entries(yield* prices.overrides)) {
      for (const model of Object.keys(models)) add(provider, model)
    }
    yield* slices.each(catalog.current().accounts, (account) => {
      for (const model of catalog.modelsOf(account)) add(account.spec.id, model)
    })
    return table
  })

  return ModelCatalog.of({ list, prices: known })
})

export const layer: Layer.Layer<ModelCatalog, never, Catalog | ModelLists | PriceBook | Resilience | Slices> =
  Layer.effect(ModelCatalog, make)
