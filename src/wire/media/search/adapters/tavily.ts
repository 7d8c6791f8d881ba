/**
 * Tavily. https://docs.tavily.com/documentation/api-reference/endpoint/search (read in 2026-11): `POST /search` with `query`, `max_results` up to
 * 20, `topic`, `time_range`, `country` (an English name, web only), `include_domains`, `exclude_domains`, `include_answer`,
 * `include_raw_content`, `include_favicon`, `safe_search`.
 */
import { stringOr } from "../../../json/Json.ts"
import { able, resultsIn } from "../Reading.ts"
import type { Search, SearchAdapter } from "../Search.ts"

/** Names the country as Tavily takes it: its English name in lower case, and only for the web. */
const countryOf = ({ country, type }: Search): string | null =>
  country === null || type === "news"
    ? null
    : (new Intl.DisplayNames(["en"], { type: "region" }).of(country)?.toLowerCase() ?? null)

export const tavily: SearchAdapter = {
  docs: "https://docs.tavily.com/documentation/api-reference/endpoint/search",
  types: ["web", "news"],
  can: able(
    "country",
    "time_range",
    "content.full_page",
    "filters.include_domains",
    "filters.exclude_domains",
    "filters.safe_search",
    "synthesis"
  ),
  mostResults: 20,
  ask: (search) => ({
    method: "POST",
    members: {
      query: search.query,
      max_results: search.maxResults,
      topic: search.type === "news" ? "news" : "general",
      time_range: search.timeRange,
      country: countryOf(search),
      include_domains: search.includeDomains.length === 0 ? null : search.includeDomains,
      exclude_domains: search.excludeDomains.length === 0 ? null : search.excludeDomains,
      include_answer: search.synthesis ? true : null,
      include_raw_content: search.fullPage ? search.format : null,
      include_favicon: true,
      safe_search: search.safeSearch === null ? null : search.safeSearch !== "off"
    }
  }),
  // https://docs.tavily.com/documentation/api-credits
  units: ({ options }) => (options["search_depth"] === "advanced" ? 2 : 1),
  read: (body) => {
    const results = resultsIn(body["results"], (item) => ({
      title: item["title"],
      url: item["url"],
      snippet: item["content"],
      score: item["score"],
      publishedAt: item["published_date"],
      faviconUrl: item["favicon"],
      content: item["raw_content"]
    }))
    return results === null ? null : { results, answer: stringOr(body["answer"]) }
  }
}
