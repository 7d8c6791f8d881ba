/**
 * `web_search_call`: searches of the web in answers, both ways.
 *
 * https://developers.openai.com/api/docs/guides/tools-web-search
 */
import type { OpaquePart } from "../canonical/Conversation.ts"
import { hitOf } from "../canonical/Links.ts"
import type { SearchWork } from "../canonical/SearchFacts.ts"
import { isArray, type JsonObject, objectOr, stringOr } from "../json/Json.ts"
import { isMadeUp } from "./Ids.ts"

const kind = "web_search_call"

/** Reads the search of a finished item; a page that was opened is no search. */
export const searchOf = (item: JsonObject): { readonly search?: SearchWork } => {
  if (item["type"] !== kind) return {}
  const { queries, query, sources, type } = objectOr(item["action"])
  const asked = isArray(queries) ? queries.flatMap((each) => stringOr(each) ?? []) : []
  const single = stringOr(query)
  const all = asked.length === 0 && single !== null ? [single] : asked
  const isSearch = type === undefined || type === "search"
  return {
    search: {
      id: stringOr(item["id"]) ?? "",
      queries: all,
      hits: isArray(sources) ? sources.flatMap((source) => hitOf(source) ?? []) : [],
      error: item["status"] === "failed" ? "unavailable" : null,
      ...(isSearch && all.length > 0 ? {} : { isBegun: true })
    }
  }
}

/** The item at its start and at its end; null where its results are told elsewhere. */
export const searchItem = (
  id: string,
  search: SearchWork | undefined
): { readonly begun: JsonObject; readonly whole: JsonObject } | null => {
  if (search === undefined || search.isBegun === true) return null
  const { error, hits, queries } = search
  const action = {
    type: "search",
    query: queries.join("; "),
    queries,
    sources: hits.map(({ url }) => ({ type: "url", url }))
  }
  return {
    begun: { id, type: kind, status: "in_progress" },
    whole: { id, type: kind, status: error === null ? "completed" : "failed", action }
  }
}

/** Events of a stream while it is searched. */
export const searchEvents = [
  `response.${kind}.in_progress`,
  `response.${kind}.searching`,
  `response.${kind}.completed`
] as const

/** Checks whether an item is the gateway's own, so that no upstream knows it. */
export const isMadeUpSearch = (item: JsonObject): boolean =>
  item["type"] === kind && typeof item["id"] === "string" && isMadeUp(item["id"])

export const isMadeUpPart = ({ value, wire }: OpaquePart): boolean => wire === "responses" && isMadeUpSearch(value)
