/**
 * Google's programmable search engine. https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list (read in 2026-11): `GET
 * /customsearch/v1` with `q`, `cx`, `num` up to 10, `start`, `gl`, `lr`, `safe`, `dateRestrict`. The engine (`cx`) is in the address of the
 * connection. It has no search for news.
 */
import { type JsonObject, isArray, isObject, objectOr, stringOr } from "../../../json/Json.ts"
import { able, languageOf, resultsIn, withOperators } from "../Reading.ts"
import type { Search, SearchAdapter } from "../Search.ts"

/** Writes a time range as Google's own pages do: `tbs=qdr:d`. */
export const googleRange = ({ timeRange }: Search): string | null =>
  timeRange === null ? null : `qdr:${timeRange.charAt(0)}`

const iconOf = (item: JsonObject): string | null => {
  const images = objectOr(item["pagemap"])["cse_thumbnail"]
  const [first] = isArray(images) ? images : []
  return isObject(first) ? stringOr(first["src"]) : null
}

const totalOf = (body: JsonObject): number | null => {
  const total = Number(objectOr(body["searchInformation"])["totalResults"])
  return Number.isSafeInteger(total) && total >= 0 ? total : null
}

/** An answer without results has no `items`. */
const isAnswer = (body: JsonObject): boolean =>
  body["kind"] === "customsearch#search" || isObject(body["searchInformation"]) || isObject(body["queries"])

export const googlePse: SearchAdapter = {
  docs: "https://developers.google.com/custom-search/v1/reference/rest/v1/cse/list",
  types: ["web"],
  can: able(
    "offset",
    "country",
    "language",
    "time_range",
    "filters.include_domains",
    "filters.exclude_domains",
    "filters.safe_search"
  ),
  mostResults: 10,
  ask: (search) => ({
    method: "GET",
    members: {
      q: withOperators(search),
      num: search.maxResults,
      start: search.offset === 0 ? null : search.offset + 1,
      gl: search.country?.toLowerCase(),
      lr: search.language === null ? null : `lang_${languageOf(search)}`,
      safe: search.safeSearch === null ? null : search.safeSearch === "off" ? "off" : "active",
      dateRestrict: search.timeRange === null ? null : `${search.timeRange.charAt(0)}1`
    }
  }),
  read: (body) => {
    const results = resultsIn(body["items"] ?? (isAnswer(body) ? [] : undefined), (item) => ({
      title: item["title"],
      url: item["link"],
      snippet: item["snippet"],
      metadata: { display_link: item["displayLink"], mime: item["mime"], image_url: iconOf(item) }
    }))
    return results === null ? null : { results, total: totalOf(body) }
  }
}
