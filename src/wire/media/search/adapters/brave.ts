/**
 * Brave. https://api-dashboard.search.brave.com/app/documentation/web-search/query (read in 2026-11): `GET /res/v1/web/search` and
 * `/res/v1/news/search` with `q`, `count` up to 20 (news: 50), `offset` in pages up to 9, `country`, `search_lang`, `safesearch`, `freshness`.
 */
import { type JsonObject, objectOr } from "../../../json/Json.ts"
import { able, joined, languageOf, pageOf, resultsIn, withOperators } from "../Reading.ts"
import type { SearchAdapter } from "../Search.ts"

const mostResults = 20
const lastPage = 9

const listIn = (body: JsonObject, isNews: boolean) => (isNews ? body : objectOr(body["web"]))["results"]

export const brave: SearchAdapter = {
  docs: "https://api-dashboard.search.brave.com/app/documentation/web-search/query",
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
  mostResults,
  ask: (search) => ({
    method: "GET",
    values: { kind: search.type },
    members: {
      q: withOperators(search),
      count: search.maxResults,
      offset: search.offset === 0 ? null : Math.min(lastPage, pageOf(search, search.maxResults, 0)),
      country: search.country,
      search_lang: languageOf(search),
      safesearch: search.safeSearch,
      freshness: search.timeRange === null ? null : `p${search.timeRange.charAt(0)}`
    }
  }),
  read: (body, { type }) => {
    const isNews = type === "news"
    // An answer without results has the query alone.
    const list = listIn(body, isNews) ?? (body["type"] === (isNews ? "news" : "search") ? [] : undefined)
    const results = resultsIn(list, (item) => ({
      title: item["title"],
      url: item["url"],
      snippet: item["description"],
      publishedAt: item["page_age"] ?? item["age"],
      faviconUrl: objectOr(item["meta_url"])["favicon"],
      metadata: { language: item["language"], extra_snippets: joined(item["extra_snippets"]) }
    }))
    return results === null ? null : { results }
  }
}
