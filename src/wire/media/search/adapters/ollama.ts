/**
 * Ollama. https://docs.ollama.com/capabilities/web-search (read in 2026-11): `POST /api/web_search` of ollama.com with `query` and `max_results`
 * up to 10.
 */
import { resultsIn } from "../Reading.ts"
import type { SearchAdapter } from "../Search.ts"

export const ollama: SearchAdapter = {
  docs: "https://docs.ollama.com/capabilities/web-search",
  types: ["web"],
  can: new Set(),
  mostResults: 10,
  needsKey: true,
  ask: ({ maxResults, query }) => ({ method: "POST", members: { query, max_results: maxResults } }),
  read: (body) => {
    const results = resultsIn(body["results"], (item) => ({
      title: item["title"],
      url: item["url"],
      snippet: item["content"]
    }))
    return results === null ? null : { results }
  }
}
