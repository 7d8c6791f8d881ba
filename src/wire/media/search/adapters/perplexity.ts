/**
 * Perplexity. https://docs.perplexity.ai/api-reference/search-post (read in 2026-11): `POST /search` with `query`, `max_results` up to 20,
 * `country`, `search_domain_filter` up to 20 names (a name with `-` before it is left out), `search_recency_filter`,
 * `search_language_filter`.
 */
import { able, languageOf, resultsIn } from "../Reading.ts"
import type { Search, SearchAdapter } from "../Search.ts"

/** Names to search in and names to leave out cannot be mixed: those to search in count. */
const domainsOf = ({ excludeDomains, includeDomains }: Search): ReadonlyArray<string> | null => {
  if (includeDomains.length > 0) return includeDomains
  return excludeDomains.length === 0 ? null : excludeDomains.map((name) => `-${name}`)
}

export const perplexity: SearchAdapter = {
  docs: "https://docs.perplexity.ai/api-reference/search-post",
  types: ["web"],
  can: able("country", "language", "time_range", "filters.include_domains", "filters.exclude_domains"),
  mostResults: 20,
  ask: (search) => {
    const language = languageOf(search)
    return {
      method: "POST",
      members: {
        query: search.query,
        max_results: search.maxResults,
        country: search.country,
        search_domain_filter: domainsOf(search),
        search_recency_filter: search.timeRange,
        search_language_filter: language === null ? null : [language]
      }
    }
  },
  read: (body) => {
    const results = resultsIn(body["results"], (item) => ({
      title: item["title"],
      url: item["url"],
      snippet: item["snippet"],
      publishedAt: item["date"],
      metadata: { last_updated: item["last_updated"] }
    }))
    return results === null ? null : { results }
  }
}
