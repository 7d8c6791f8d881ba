/**
 * Linkup. https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search (read in 2026-11): `POST /v1/search` with `q`, `depth`,
 * `outputType` (`searchResults`, or `sourcedAnswer` with `answer` and `sources`), `maxResults`, `fromDate`, `includeDomains`, `excludeDomains`.
 */
import { stringOr } from "../../../json/Json.ts"
import { able, resultsIn } from "../Reading.ts"
import type { SearchAdapter } from "../Search.ts"

export const linkup: SearchAdapter = {
  docs: "https://docs.linkup.so/pages/documentation/api-reference/endpoint/post-search",
  types: ["web"],
  can: able("time_range", "filters.include_domains", "filters.exclude_domains", "synthesis"),
  mostResults: 100,
  ask: (search) => ({
    method: "POST",
    members: {
      q: search.query,
      depth: "standard",
      outputType: search.synthesis ? "sourcedAnswer" : "searchResults",
      maxResults: search.maxResults,
      fromDate: search.since,
      includeDomains: search.includeDomains.length === 0 ? null : search.includeDomains,
      excludeDomains: search.excludeDomains.length === 0 ? null : search.excludeDomains
    }
  }),
  // https://www.linkup.so/pricing
  units: ({ options }) => (options["depth"] === "deep" ? 10 : 1),
  read: (body) => {
    const results = resultsIn(body["results"] ?? body["sources"], (item) => ({
      title: item["name"],
      url: item["url"],
      snippet: item["content"] ?? item["snippet"],
      metadata: { kind: item["type"] }
    }))
    return results === null ? null : { results, answer: stringOr(body["answer"]) }
  }
}
