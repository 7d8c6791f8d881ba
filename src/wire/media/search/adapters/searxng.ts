/**
 * SearXNG. https://docs.searxng.org/dev/search_api.html (read in 2026-11): `GET /search?format=json` with `q`, `categories`, `language`, `pageno`,
 * `time_range`, `safesearch`. The form `json` has to be switched on in the server's settings (`search.formats`). It decides itself how many
 * results there are.
 */
import { isArray, isObject, stringOr } from "../../../json/Json.ts"
import { able, joined, pageOf, resultsIn } from "../Reading.ts"
import { safeSearches, type SearchAdapter } from "../Search.ts"

/** Results on a page of most engines. */
const pageSize = 10

export const searxng: SearchAdapter = {
  docs: "https://docs.searxng.org/dev/search_api.html",
  types: ["web", "news"],
  can: able("offset", "language", "time_range", "filters.safe_search"),
  mostResults: 100,
  ask: (search) => ({
    method: "GET",
    members: {
      q: search.query,
      format: "json",
      categories: search.type === "news" ? "news" : "general",
      language: search.language,
      pageno: search.offset === 0 ? null : pageOf(search, pageSize, 1),
      time_range: search.timeRange,
      safesearch: search.safeSearch === null ? null : safeSearches.indexOf(search.safeSearch)
    }
  }),
  read: (body) => {
    const results = resultsIn(body["results"], (item) => ({
      title: item["title"],
      url: item["url"],
      snippet: item["content"],
      score: item["score"],
      publishedAt: item["publishedDate"],
      metadata: { engine: item["engine"], engines: joined(item["engines"]) }
    }))
    if (results === null) return null
    const [first] = isArray(body["answers"]) ? body["answers"] : []
    return { results, answer: isObject(first) ? stringOr(first["answer"]) : stringOr(first) }
  }
}
