/**
 * Texts of the blocks that only the messages wire has: search results, documents of blocks, and the work of its servers' tools.
 *
 * https://platform.claude.com/docs/en/build-with-claude/search-results, https://platform.claude.com/docs/en/agents-and-tools/mcp-connector,
 * https://platform.claude.com/docs/en/agents-and-tools/tool-use/overview, https://platform.claude.com/docs/en/build-with-claude/compaction
 */
import type { OpaquePart } from "../canonical/Conversation.ts"
import {
  callAsText,
  linesOf,
  plainText,
  type PlainPart,
  type Saying,
  textOfLines,
  textsIn,
  unknownBlock
} from "../canonical/ForeignContent.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../json/Json.ts"
import { mediaTypeOf } from "../json/MediaType.ts"
import { unpacked } from "./Searches.ts"

/** Types of blocks about tools and settings, not of the conversation. */
const hints: ReadonlySet<string> = new Set([
  "x-anthropic-billing-header",
  "tool_reference",
  "tool_search_tool_result",
  "fallback"
])

const imageOf = (block: JsonObject): ReadonlyArray<PlainPart> => {
  const source = objectOr(block["source"])
  const data = stringOr(source["data"])
  const url = stringOr(source["url"])
  if (source["type"] === "base64" && data !== null)
    return [
      { type: "image", source: { kind: "base64", mediaType: mediaTypeOf(stringOr(source["media_type"]) ?? ""), data } }
    ]
  return source["type"] === "url" && url !== null ? [{ type: "image", source: { kind: "url", url } }] : []
}

/** A document that is made of blocks, under its title. */
const ofDocument = (block: JsonObject): Saying => {
  const { content, type } = objectOr(block["source"])
  if (type !== "content") return null
  const head = textOfLines(block["title"], block["context"])
  if (typeof content === "string") return [...head, plainText(content)]
  if (!isArray(content)) return null
  return [
    ...head,
    ...content.flatMap((item): ReadonlyArray<PlainPart> => {
      const inner = objectOr(item)
      return inner["type"] === "image" ? imageOf(inner) : textsIn([item]).map(plainText)
    })
  ]
}

const resultLine = (item: Json): string | null => {
  const { encrypted_content: content, error_code: error, page_age: age, title, url } = objectOr(item)
  if (typeof error === "string") return `error: ${error}`
  return linesOf(title, url, age, unpacked(content) ?? undefined)
}

const ofSearch = (content: Json | undefined): Saying =>
  textOfLines(...(isArray(content) ? content : [content ?? null]).map(resultLine).map((line) => line ?? undefined))

/** A page: a text, or a PDF. */
const ofFetch = (content: Json | undefined): Saying => {
  const { content: page, error_code: error, url } = objectOr(content)
  if (typeof error === "string") return [plainText(`error: ${error}`)]
  const { source, title } = objectOr(page)
  const { data, media_type: mediaType, type } = objectOr(source)
  const text = stringOr(data)
  if (text === null) return null
  const head = textOfLines(title, url)
  if (type === "text") return [...head, plainText(text)]
  return [
    ...head,
    { type: "file", source: { kind: "base64", mediaType: mediaTypeOf(stringOr(mediaType) ?? ""), data: text } }
  ]
}

/** Texts of the output of code, and of files that an editor has shown. */
const ofCode = (content: Json | undefined): Saying => {
  const { content: shown, error_code: error, return_code: code, stderr, stdout } = objectOr(content)
  const failed = typeof code === "number" && code !== 0 ? `return code ${code}` : undefined
  return textOfLines(stdout, stderr, shown, failed, typeof error === "string" ? `error: ${error}` : undefined)
}

export const blockTexts = ({ kind, value }: OpaquePart): Saying => {
  if (hints.has(kind)) return "hint"
  const { content, name } = value
  switch (kind) {
    case "search_result":
      return textOfLines(value["title"], value["source"], ...textsIn(content))
    case "document":
      return ofDocument(value)
    case "mcp_tool_use":
      return [plainText(callAsText([value["server_name"], name].filter(Boolean).join("/"), value["input"]))]
    case "mcp_tool_result":
      return textOfLines(value["is_error"] === true ? "error:" : undefined, ...textsIn(content))
    case "server_tool_use":
      return [plainText(callAsText(stringOr(name) ?? kind, value["input"]))]
    case "web_search_tool_result":
      return ofSearch(content)
    case "web_fetch_tool_result":
      return ofFetch(content)
    case "code_execution_tool_result":
    case "bash_code_execution_tool_result":
    case "text_editor_code_execution_tool_result":
      return ofCode(content)
    case "compaction":
      // Without words it is a compaction that failed.
      return typeof content === "string" ? [plainText(content)] : isObject(content) ? null : "hint"
    default:
      return unknownBlock(value)
  }
}
