/** Chooses the target of a search: the provider it names, or any that is connected and supports its settings. Pure. */
import { InvalidRequest } from "../../contract/domain/Errors.ts"
import type { CatalogSnapshot } from "../providers/Catalog.ts"
import type { ServiceRequest } from "../routing/resolve/ServiceTargets.ts"
import { invalidField } from "../../wire/json/FieldReader.ts"
import type { SearchRequest } from "../../wire/media/search/Request.ts"
import { type Ability, asksFor, searchModel } from "../../wire/media/search/Search.ts"
import { isForSearches, providerNamed, type SearchProvider, searchProviders } from "./SearchProviders.ts"

export interface SearchRoute {
  /** Name in the place of other requests' model id. */
  readonly requestedModel: string
  readonly service: ServiceRequest
}

type Snapshot = Pick<CatalogSnapshot, "accounts" | "provider">

const inWords = (names: ReadonlyArray<string>): string => names.join(", ")

const routeTo = (requestedModel: string, providers: ReadonlyArray<SearchProvider>): SearchRoute => {
  const specs = new Set(providers.flatMap((provider) => provider.specs))
  return {
    requestedModel,
    service: {
      model: searchModel,
      key: [...specs].join(),
      serves: (account) => specs.has(account.spec.id) && isForSearches(account),
      advice:
        "no provider for searches is connected. Connect one with 'gateway provider add tavily', or another one of GET /v1/search"
    }
  }
}

const isServed = ({ accounts }: Snapshot, { service }: SearchRoute): boolean => accounts.some(service.serves)

/** Lists the settings of a request that a provider does not support. */
const missingAt = ({ adapter }: SearchProvider, { search }: SearchRequest): ReadonlyArray<Ability> =>
  asksFor({ ...search, since: null }).filter((ability) => !adapter.can.has(ability))

const unsupportedFields = (who: string, fields: ReadonlyArray<Ability>): InvalidRequest =>
  new InvalidRequest({
    message: `${fields[0] ?? "strict_filters"}: with strict_filters, ${who} cannot be told ${inWords(fields)}`,
    param: fields[0] ?? null,
    details: fields.map((field) => ({ field, message: `${who} cannot be told this` }))
  })

const toNamed = (catalog: Snapshot, request: SearchRequest, name: string): SearchRoute | InvalidRequest => {
  const provider = providerNamed(catalog, name)
  if (provider === null) {
    const known = inWords(searchProviders.map(({ id }) => id))
    return invalidField("provider", `'${name.slice(0, 100)}' is no provider for searches; known are ${known}`)
  }
  const { adapter, id, specs } = provider
  if (!adapter.types.includes(request.search.type)) {
    return invalidField("search_type", `'${id}' has no search for ${request.search.type}`)
  }
  const missing = request.strict ? missingAt(provider, request) : []
  if (missing.length > 0) return unsupportedFields(`'${id}'`, missing)
  const route = routeTo(`${id}/${searchModel}`, [provider])
  return isServed(catalog, route)
    ? route
    : invalidField(
        "provider",
        `'${id}' has no active connection for searches. Connect it with 'gateway provider add ${specs.at(-1) ?? id}', or POST /api/providers`
      )
}

const toAny = (catalog: Snapshot, request: SearchRequest): SearchRoute | InvalidRequest => {
  const { search, strict } = request
  const ofType = searchProviders.filter(({ adapter }) => adapter.types.includes(search.type))
  const fitting = strict ? ofType.filter((provider) => missingAt(provider, request).length === 0) : ofType
  const route = routeTo(searchModel, fitting)
  if (isServed(catalog, route) || !isServed(catalog, routeTo(searchModel, searchProviders))) return route
  if (isServed(catalog, routeTo(searchModel, ofType))) {
    return unsupportedFields("no connected provider", asksFor({ ...search, since: null }))
  }
  const those = inWords(ofType.map(({ id }) => id))
  return invalidField("search_type", `no connected provider has a search for ${search.type}; these have: ${those}`)
}

export const routeOf = (catalog: Snapshot, request: SearchRequest): SearchRoute | InvalidRequest =>
  request.provider === null ? toAny(catalog, request) : toNamed(catalog, request, request.provider)
