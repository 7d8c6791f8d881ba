/**
 * The list of models for `GET /v1/models`: what is connected, the combos, and `auto`. One entry serves OpenAI's and Anthropic's
 * clients alike. Built again only when the catalogue or the learned lists changed.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { ApiKey } from "../domain/ApiKey.ts"
import { allowsModel } from "../auth/ApiKeys.ts"
import * as Catalog from "../providers/Catalog.ts"
import * as ModelLists from "../providers/ModelLists.ts"

export interface CatalogueEntry {
  readonly id: string
  readonly object: "model"
  readonly type: "model"
  /** Epoch seconds. */
  readonly created: number
  readonly created_at: string
  readonly owned_by: string
  readonly display_name: string
  readonly context_length?: number
  readonly max_output_tokens?: number
}

export interface CataloguePage {
  readonly object: "list"
  readonly data: ReadonlyArray<CatalogueEntry>
  readonly has_more: false
  readonly first_id: string | null
  readonly last_id: string | null
}

export class ModelCatalogue extends Context.Tag("gateway/inference/ModelCatalogue")<
  ModelCatalogue,
  {
    /** What a caller may see; null key: everything. */
    readonly entries: (key: ApiKey | null) => ReadonlyArray<CatalogueEntry>
  }
>() {}

const entry = (
  id: string,
  owner: string,
  createdMs: number,
  listed: ModelLists.ListedModel | undefined
): CatalogueEntry => ({
  id,
  object: "model",
  type: "model",
  created: Math.floor(createdMs / 1000),
  created_at: new Date(createdMs).toISOString(),
  owned_by: owner,
  display_name: listed?.name ?? id,
  ...(listed?.contextLength === null || listed === undefined ? {} : { context_length: listed.contextLength }),
  ...(listed?.maxOutputTokens === null || listed === undefined ? {} : { max_output_tokens: listed.maxOutputTokens })
})

/** All entries of a snapshot, without repeats, in the order a person expects: auto, combos, then models by provider. */
export const entriesOf = (
  snapshot: Catalog.CatalogSnapshot,
  modelsOf: (account: Catalog.Account) => ReadonlyArray<string>,
  describe: (account: Catalog.Account) => ReadonlyMap<string, ModelLists.ListedModel>
): ReadonlyArray<CatalogueEntry> => {
  const entries = new Map<string, CatalogueEntry>()
  if (snapshot.accounts.length > 0) {
    entries.set("auto", entry("auto", "gateway", snapshot.accounts[0]?.connection.createdAtMs ?? 0, undefined))
  }
  for (const combo of snapshot.combos.values()) {
    entries.set(combo.name, entry(combo.name, "combo", combo.createdAtMs, undefined))
  }
  for (const account of snapshot.accounts) {
    const details = describe(account)
    for (const model of modelsOf(account)) {
      const id = `${account.spec.id}/${model}`
      if (!entries.has(id)) {
        entries.set(id, entry(id, account.spec.id, account.connection.createdAtMs, details.get(model)))
      }
    }
  }
  return [...entries.values()]
}

export const pageOf = (data: ReadonlyArray<CatalogueEntry>): CataloguePage => ({
  object: "list",
  data,
  has_more: false,
  first_id: data[0]?.id ?? null,
  last_id: data.at(-1)?.id ?? null
})

export const make = Effect.gen(function* () {
  const catalog = yield* Catalog.Catalog
  const lists = yield* ModelLists.ModelLists
  let builtFrom: { readonly snapshot: Catalog.CatalogSnapshot; readonly revision: number } | null = null
  let entries: ReadonlyArray<CatalogueEntry> = []

  const current = (): ReadonlyArray<CatalogueEntry> => {
    const snapshot = catalog.current()
    const revision = lists.revision()
    if (builtFrom?.snapshot !== snapshot || builtFrom.revision !== revision) {
      entries = entriesOf(snapshot, catalog.modelsOf, catalog.describe)
      builtFrom = { snapshot, revision }
    }
    return entries
  }
  return ModelCatalogue.of({
    entries: (key) => (key === null ? current() : current().filter((listed) => allowsModel(key, listed.id)))
  })
})

export const layer: Layer.Layer<ModelCatalogue, never, Catalog.Catalog | ModelLists.ModelLists> = Layer.effect(
  ModelCatalogue,
  make
)
