/**
 * You.com. https://you.com/docs/guides/search/request-controls (read in 2026-11): `POST /v1/search` with `query`, `count` up to 100, `offset` in
 * pages up to 9, `country`, `language`, `freshness`, `safesearch`, `include_domains`, `exclude_domains`, `livecrawl`, `livecrawl_formats`. News are
 * in the same answer.
 */
import { isObject, objectOr } from "../../../json/Json.ts"
import { able, joined, pageOf, resultsIn } from "../Reading.ts"
import type { Search, SearchAdapter } from "../Search.ts"

const lastPage = 9

const crawl = ({ fullPage, format, type }: Search) =>
  fullPage ? { livecrawl: type, livecrawl_formats: [format === "markdown" ? "markdown" : "html"] } : {}

export const youcom: SearchAdapter = {
  docs: "https://you.com/docs/guides/search/request-controls",
  types: ["web", "news"],
  can: able(
    "offset",
    "country",
    "language",
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
      count: search.maxResults,
      offset: search.offset === 0 ? null : Math.min(lastPage, pageOf(search, search.maxResults, 0)),
      country: search.country,
      language: search.language,
      freshness: search.timeRange,
      safesearch: search.safeSearch,
      include_domains: search.includeDomains.length === 0 ? null : search.includeDomains,
      exclude_domains: search.excludeDomains.length === 0 ? null : search.excludeDomains,
      ...crawl(search)
    }
  }),
  read: (body, { type }) => {
    const lists = body["results"]
    // News are in an answer only where there are any.
    const list = isObject(lists) ? (lists[type] ?? []) : undefined
    const results = resultsIn(list, (item) => ({
      title: item["title"],
      url: item["url"],
      snippet: joined(item["snippets"]) ?? item["description"],
      publishedAt: item["page_age"],
      faviconUrl: item["favicon_url"],
      content: objectOr(item["contents"])["markdown"] ?? objectOr(item["contents"])["html"],
      metadata: { description: item["description"], image_url: item["thumbnail_url"], authors: joined(item["authors"]) }
    }))
    return results === null ? null : { results }
  }
}
