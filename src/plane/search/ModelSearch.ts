/** A search that a model has called for, as a request of `/v1/search`, and what it brings. Pure. */
import type { AskedSearch } from "../request/ModelSearches.ts"
import type { SearchHit } from "../../wire/canonical/SearchFacts.ts"
import { isArray, isObject, type JsonObject, parseJson, stringOr } from "../../wire/json/Json.ts"

/** A domain as clients write it, which may have a scheme and a path. */
interface Place {
  readonly host: string
  readonly path: string
}

const placeOf = (domain: string): Place | null => {
  const address = `https://${domain.replace(/^[a-z]+:\/\//i, "").replace(/^\*\./, "")}`
  if (!URL.canParse(address)) return null
  const { hostname, pathname } = new URL(address)
  return { host: hostname.replace(/^www\./, ""), path: pathname === "/" ? "" : pathname }
}

const placesOf = (domains: ReadonlyArray<string>): ReadonlyArray<Place> =>
  domains.flatMap((domain) => placeOf(domain) ?? [])

const isAt = (url: string, { host, path }: Place): boolean => {
  const { hostname, pathname } = new URL(url)
  return (hostname === host || hostname.endsWith(`.${host}`)) && pathname.startsWith(path)
}

const hostsOf = (domains: ReadonlyArray<string>): ReadonlyArray<string> => [
  ...new Set(placesOf(domains).map(({ host }) => host))
]

export const requestOf = ({ allowedDomains, blockedDomains, count, country, query }: AskedSearch): JsonObject => ({
  query,
  max_results: count,
  ...(country !== null && /^[a-z]{2}$/i.test(country) ? { country } : {}),
  filters: {
    include_domains: hostsOf(allowedDomains),
    // A part of a site is no reason to leave all of it out.
    exclude_domains: placesOf(blockedDomains).flatMap(({ host, path }) => (path === "" ? host : []))
  }
})

/** Removes results from domains that the client has excluded: not every search provider can filter domains itself. */
export const hitsIn = (
  text: string,
  { allowedDomains, blockedDomains, count }: AskedSearch
): ReadonlyArray<SearchHit> | null => {
  const body = parseJson(text)
  if (!isObject(body) || !isArray(body["results"])) return null
  const allowed = placesOf(allowedDomains)
  const blocked = placesOf(blockedDomains)
  return body["results"]
    .filter(isObject)
    .flatMap((result): ReadonlyArray<SearchHit> => {
      const url = stringOr(result["url"]) ?? ""
      if (!URL.canParse(url)) return []
      if (blocked.some((place) => isAt(url, place))) return []
      if (allowedDomains.length > 0 && !allowed.some((place) => isAt(url, place))) return []
      return [
        {
          url,
          title: stringOr(result["title"]) ?? "",
          snippet: stringOr(result["snippet"]) ?? "",
          pageAge: stringOr(result["publishedAt"])
        }
      ]
    })
    .slice(0, count)
}
