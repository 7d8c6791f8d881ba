/**
 * Exa. https://exa.ai/docs/reference/search (read in 2026-11): `POST /search` with `query`, `numResults` up to 100, `category`, `userLocation`,
 * `includeDomains`, `excludeDomains`, `startPublishedDate`, `moderation`, `contents`.
 */
import { isArray, stringOr } from "../../../json/Json.ts"
import { able, joined, resultsIn } from "../Reading.ts"
import type { Search, SearchAdapter } from "../Search.ts"

const contentsOf = ({ fullPage, maxCharacters, snippet }: Search) => ({
  ...(snippet ? { highlights: true } : {}),
  ...(fullPage ? { text: maxCharacters === null ? true : { maxCharacters } } : {})
})

export const exa: SearchAdapter = {
  docs: "https://exa.ai/docs/reference/search",
  types: ["web", "news"],
  can: able(
    "country",
    "time_range",
    "content.full_page",
    "filters.include_domains",
    "filters.exclude_domains",
    "filters.safe_search"
  ),
  mostResults: 100,
  ask: (search) => ({
    method: "POST",
    members: {
      query: search.query,
      numResults: search.maxResults,
      category: search.type === "news" ? "news" : null,
      userLocation: search.country,
      includeDomains: search.includeDomains.length === 0 ? null : search.includeDomains,
      excludeDomains: search.excludeDomains.length === 0 ? null : search.excludeDomains,
      startPublishedDate: search.since === null ? null : `${search.since}T00:00:00.000Z`,
      moderation: search.safeSearch === null ? null : search.safeSearch !== "off",
      contents: contentsOf(search)
    }
  }),
  read: (body) => {
    const results = resultsIn(body["results"], (item) => ({
      title: item["title"],
      url: item["url"],
      snippet: isArray(item["highlights"]) ? joined(item["highlights"]) : item["summary"],
      score: item["score"],
      publishedAt: item["publishedDate"],
      faviconUrl: item["favicon"],
      content: item["text"],
      metadata: { author: stringOr(item["author"]), image_url: item["image"] }
    }))
    return results === null ? null : { results }
  }
}
