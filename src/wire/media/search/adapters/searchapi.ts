/**
 * SearchApi. https://www.searchapi.io/docs/google and /docs/google-news (read in 2026-11): `GET /api/v1/search` with `engine`, `q`, `gl`, `hl`,
 * `time_period`, `safe`, `page`. A page has ten results.
 */
import { numberOr, objectOr, stringOr } from "../../../json/Json.ts"
import { able, languageOf, pageOf, resultsIn, withOperators } from "../Reading.ts"
import type { Search, SearchAdapter } from "../Search.ts"

const pageSize = 10

const periodOf = ({ timeRange }: Search): string | null => (timeRange === null ? null : `last_${timeRange}`)

export const searchapi: SearchAdapter = {
  docs: "https://www.searchapi.io/docs/google",
  types: ["web", "news"],
  can: able(
    "offset",
    "country",
    "language",
    "time_range",
    "filters.include_domains",
    "filters.exclude_domains",
    "filters.safe_search"
  ),
  mostResults: pageSize,
  ask: (search) => ({
    method: "GET",
    members: {
      engine: search.type === "news" ? "google_news" : "google",
      q: withOperators(search),
      gl: search.country?.toLowerCase(),
      hl: languageOf(search),
      time_period: periodOf(search),
      safe: search.safeSearch === null ? null : search.safeSearch === "off" ? "off" : "active",
      page: search.offset === 0 ? null : pageOf(search, pageSize, 1)
    }
  }),
  read: (body) => {
    // A search that finds nothing has no list.
    const nothing = objectOr(body["search_metadata"])["status"] === "Success" ? [] : undefined
    const results = resultsIn(body["organic_results"] ?? nothing, (item) => ({
      title: item["title"],
      url: item["link"],
      snippet: item["snippet"],
      publishedAt: item["iso_date"] ?? item["date"],
      // It may hold the picture itself, which is no address.
      faviconUrl: stringOr(item["favicon"])?.startsWith("http") === true ? item["favicon"] : null,
      metadata: { source: item["source"], position: item["position"] }
    }))
    if (results === null) return null
    const box = objectOr(body["answer_box"])
    return {
      results,
      answer: stringOr(box["answer"]) ?? stringOr(box["snippet"]),
      total: numberOr(objectOr(body["search_information"])["total_results"])
    }
  }
}
