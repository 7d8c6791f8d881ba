/** An answer to a search that a plugin writes in the place of a provider's: in the form that clients get (`docs/search.md`). Pure. */
import { isArray, isObject, type JsonObject, numberOr, stringOr } from "../json/Json.ts"
import { resultsIn } from "./Reading.ts"

/** In the form that providers' answers are read into. Null: it has no list of results, or not all of them have a web address. */
export const writtenAnswer = ({ answer, metrics, results: list }: JsonObject): JsonObject | null => {
  const results = resultsIn(list, (item) => ({
    title: item["title"],
    url: item["url"],
    snippet: item["snippet"],
    score: item["score"],
    publishedAt: item["published_at"],
    faviconUrl: item["favicon_url"],
    content: item["content"],
    metadata: isObject(item["metadata"]) ? item["metadata"] : {}
  }))
  if (results === null || !isArray(list) || results.length < list.length) return null
  return {
    results: results.map((result): JsonObject => ({ ...result })),
    answer: stringOr(answer),
    total: numberOr(isObject(metrics) ? metrics["total_results_available"] : null)
  }
}
