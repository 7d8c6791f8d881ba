/** Lists the providers with searches, and the accounts that one may go to. Pure, over a catalogue snapshot. */
import type { SearchAdapterName } from "../../contract/domain/MediaKind.ts"
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import type { Account, CatalogSnapshot } from "../providers/Catalog.ts"
import { allProviders } from "../providers/registry/index.ts"
import { searchAdapters } from "../../wire/media/search/adapters/index.ts"
import type { Ability, SearchAdapter, SearchType } from "../../wire/media/search/Search.ts"

/**
 * Provider as clients know it: by its form. Several providers of the registry may be one here (Ollama's own server and
 * its cloud).
 */
export interface SearchProvider {
  readonly id: SearchAdapterName
  readonly adapter: SearchAdapter
  /** Ids of the registry. */
  readonly specs: ReadonlyArray<string>
}

const isSearchAdapter = (name: string): name is SearchAdapterName => Object.hasOwn(searchAdapters, name)

const adapterOf = ({ media }: Pick<ProviderSpec, "media">): SearchAdapterName | null => {
  const name = media.search?.adapter ?? null
  return name !== null && isSearchAdapter(name) ? name : null
}

export const searchProviders: ReadonlyArray<SearchProvider> = Object.keys(searchAdapters)
  .filter(isSearchAdapter)
  .map((id) => ({
    id,
    adapter: searchAdapters[id],
    specs: allProviders.flatMap((spec) => (adapterOf(spec) === id ? [spec.id] : []))
  }))

/** Finds a provider by the name a client gives; null when no provider of searches has it. */
export const providerNamed = ({ provider }: Pick<CatalogSnapshot, "provider">, name: string): SearchProvider | null => {
  const spec = isSearchAdapter(name) ? null : provider(name)
  const id = isSearchAdapter(name) ? name : spec === null ? null : adapterOf(spec)
  return searchProviders.find((each) => each.id === id) ?? null
}

/** The name that clients know a provider of the registry by; its own where it has no searches. */
export const shownName = (specId: string): string =>
  searchProviders.find(({ specs }) => specs.includes(specId))?.id ?? specId

/** Checks whether searches can be sent to an account. */
export const isForSearches = ({ connection, endpoints, spec }: Account): boolean => {
  const name = adapterOf(spec)
  if (name === null || endpoints.chat === undefined) return false
  return searchAdapters[name].needsKey !== true || connection.apiKey !== null
}

export interface ListedProvider {
  readonly id: string
  readonly configured: boolean
  readonly types: ReadonlyArray<SearchType>
  /** Most results of one search. */
  readonly max_results: number
  /** Settings that it supports beside the query. */
  readonly fields: ReadonlyArray<Ability>
}

export const listProviders = ({ accounts }: Pick<CatalogSnapshot, "accounts">): ReadonlyArray<ListedProvider> => {
  const ready = new Set(accounts.filter(isForSearches).map(({ spec }) => spec.id))
  return searchProviders.map(({ adapter, id, specs }) => ({
    id,
    configured: specs.some((spec) => ready.has(spec)),
    types: adapter.types,
    max_results: adapter.mostResults,
    fields: [...adapter.can]
  }))
}
