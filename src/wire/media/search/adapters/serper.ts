/** Serper. https://serper.dev/playground (read in 2026-11): `POST /search` and `/news` with `q`, `num`, `gl`, `hl`, `tbs`, `page`. */
import { able, joined, languageOf, pageOf, resultsIn, withOperators } from "../Reading.ts"
import type { SearchAdapter } from "../Search.ts"
import { objectOr, numberOr, stringOr } from "../../../json/Json.ts"
import { googleRange } from "./google.ts"

export const serper: SearchAdapter = {
  docs: "https://serper.dev/playground",
  types: ["web", "news"],
  can: able("offset", "country", "language", "time_range", "filters.include_domains", "filters.exclude_domains"),
  mostResults: 100,
  ask: (search) => ({
    method: "POST",
    values: { kind: search.type === "news" ? "news" : "search" },
    members: {
      q: withOperators(search),
      num: search.maxResults,
      gl: search.country?.toLowerCase(),
      hl: languageOf(search),
      tbs: googleRange(search),
      page: search.offset === 0 ? null : pageOf(search, search.maxResults, 1)
    }
  }),
  // A search costs two credits when it asks for more than ten results.
  units: ({ maxResults }) => (maxResults > 10 ? 2 : 1),
  read: (body, { type }) => {
    const results = resultsIn(body[type === "news" ? "news" : "organic"], (item) => ({
      title: item["title"],
      url: item["link"],
      snippet: item["snippet"],
      publishedAt: item["date"],
      metadata: { source: item["source"], position: item["position"], image_url: item["imageUrl"] }
    }))
    if (results === null) return null
    const box = objectOr(body["answerBox"])
    return {
      results,
      answer: stringOr(box["answer"]) ?? stringOr(box["snippet"]) ?? joined(box["snippetHighlighted"]),
      total: numberOr(objectOr(body["searchInformation"])["totalResults"])
    }
  }
}
