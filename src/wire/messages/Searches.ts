/**
 * Searches of the web in messages: `server_tool_use` and `web_search_tool_result`, both ways. Blocks that the gateway has made can be told by
 * their ids: their maker knows no proof of them, so that they go back as words.
 *
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/web-search-tool
 */
import type { OpaquePart } from "../canonical/Conversation.ts"
import { hitOf } from "../canonical/Links.ts"
import type { SearchHit, SearchWork } from "../canonical/SearchFacts.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, parseJson, stringOr } from "../json/Json.ts"

const use = "server_tool_use"
const result = "web_search_tool_result"
const tool = "web_search"

const mark = "srvtoolu_gw_"
/** Ids of blocks are short. */
const maxIdChars = 40

/** Checks whether a block is the gateway's own. */
export const isMadeUp = (block: JsonObject): boolean => {
  const id = block["type"] === use ? block["id"] : block["type"] === result ? block["tool_use_id"] : null
  return typeof id === "string" && id.startsWith(mark)
}

/** Words of a page that the gateway has found itself stand where others keep theirs. */
const contentMark = "gw1_"

const packed = (snippet: string): string =>
  snippet === "" ? "" : contentMark + Buffer.from(snippet, "utf8").toString("base64url")

/** Words of a page that the gateway has packed; null where others have. */
export const unpacked = (content: Json | undefined): string | null =>
  typeof content === "string" && content.startsWith(contentMark)
    ? Buffer.from(content.slice(contentMark.length), "base64url").toString("utf8")
    : null

/** The query of a call, whose input may come as text. */
const queryOf = (input: Json | undefined): string | null => {
  const given = typeof input === "string" ? parseJson(input) : input
  return isObject(given) ? stringOr(given["query"]) : null
}

/** Reads the searches of one answer: a result knows its call by an id. */
export interface SearchReader {
  /** `block`: complete, or as its stream begins it. */
  readonly read: (block: JsonObject) => { readonly search?: SearchWork }
  /** Input of a call that came in pieces. */
  readonly input: (block: JsonObject, text: string) => void
}

const hitsIn = (content: Json | undefined): ReadonlyArray<SearchHit> =>
  isArray(content) ? content.flatMap((item) => hitOf(item) ?? []) : []

export const makeSearchReader = (): SearchReader => {
  const queries = new Map<string, string>()
  const note = (block: JsonObject, input: Json | undefined): void => {
    const query = queryOf(input)
    if (query !== null) queries.set(stringOr(block["id"]) ?? "", query)
  }
  return {
    read: (block) => {
      const { content, name, type } = block
      if (type === use && name === tool) {
        note(block, block["input"])
        return { search: { id: stringOr(block["id"]) ?? "", queries: [], hits: [], error: null, isBegun: true } }
      }
      if (type !== result) return {}
      const id = stringOr(block["tool_use_id"]) ?? ""
      const query = queries.get(id)
      const error = isArray(content) ? null : stringOr(objectOr(content)["error_code"])
      return { search: { id, queries: query === undefined ? [] : [query], hits: hitsIn(content), error } }
    },
    input: note
  }
}

const idOf = ({ id }: SearchWork, fallback: string): string =>
  mark + (id === "" ? fallback : id).replaceAll(/[^a-zA-Z0-9]/g, "").slice(-maxIdChars)

const resultOf = ({ pageAge, snippet, title, url }: SearchHit): JsonObject => ({
  type: "web_search_result",
  title,
  url,
  encrypted_content: packed(snippet),
  page_age: pageAge
})

/** The two blocks of a search that another wire tells of, or the gateway has made. Null where they stand elsewhere. */
export const searchBlocks = (
  search: SearchWork | undefined,
  fallbackId: string
): { readonly call: JsonObject; readonly result: JsonObject } | null => {
  if (search === undefined || search.isBegun === true) return null
  const id = idOf(search, fallbackId)
  const content: Json =
    search.error === null
      ? search.hits.map(resultOf)
      : { type: "web_search_tool_result_error", error_code: search.error }
  return {
    call: { type: use, id, name: tool, input: { query: search.queries.join("; ") } },
    result: { type: result, tool_use_id: id, content }
  }
}

/** Checks whether a citation lacks its provider's proof. */
export const lacksProof = (citation: Json): boolean =>
  isObject(citation) && citation["type"] === "web_search_result_location" && !citation["encrypted_index"]

export const isMadeUpPart = ({ value, wire }: OpaquePart): boolean => wire === "messages" && isMadeUp(value)
