/**
 * Links in answers and in histories: read from each wire, and written in each. Offsets are in UTF-16 units, within the text that a link belongs
 * to. Pure.
 */
import { isArray, isObject, type Json, type JsonObject, numberOr, objectOr, stringOr } from "../json/Json.ts"
import type { Citation, Conversation, Message, Part, TextPart } from "./Conversation.ts"
import type { Link, SearchHit } from "./SearchFacts.ts"

const addressOf = (value: Json | undefined): string | null => {
  const url = stringOr(value) ?? ""
  return url === "" ? null : url
}

/** `url_citation`, whose members the chat wire has one level deeper. */
const ofUrlCitation = (value: JsonObject): Link | null => {
  const link = isObject(value["url_citation"]) ? value["url_citation"] : value
  const url = addressOf(link["url"])
  if (value["type"] !== "url_citation" || url === null) return null
  return {
    url,
    title: stringOr(link["title"]) ?? "",
    text: stringOr(link["content"]) ?? "",
    start: numberOr(link["start_index"]),
    end: numberOr(link["end_index"])
  }
}

/** The whole text of its block rests on it. */
const ofLocation = (value: JsonObject, blockLength: number | null): Link | null => {
  const url = addressOf(value["type"] === "web_search_result_location" ? value["url"] : value["source"])
  const { type } = value
  if (url === null || (type !== "web_search_result_location" && type !== "search_result_location")) return null
  return {
    url,
    title: stringOr(value["title"]) ?? "",
    text: stringOr(value["cited_text"]) ?? "",
    start: blockLength === null ? null : 0,
    end: blockLength
  }
}

/** A citation with its link, where it is one. `blockLength`: of the text it belongs to, where that is known. */
export const withLink = (citation: Citation, blockLength: number | null): Citation => {
  const { value, wire } = citation
  const link = wire === "messages" ? ofLocation(value, blockLength) : ofUrlCitation(value)
  return link === null ? citation : { ...citation, link }
}

/** The citations of a list, as a member of a text. */
export const citationsIn = (
  wire: Citation["wire"],
  list: Json | undefined,
  blockLength: number | null
): { readonly citations?: ReadonlyArray<Citation> } => {
  const citations = isArray(list)
    ? list.flatMap((value) => (isObject(value) ? withLink({ wire, value }, blockLength) : []))
    : []
  return citations.length === 0 ? {} : { citations }
}

/** A link that the gateway has found itself, or that its wire has in no place of its own. */
export const ownCitation = (link: Link, wire: Citation["wire"] = null): Citation => ({ wire, value: {}, link })

/** Members of `url_citation`. `base`: where the text of the link begins in the text that the client sees. */
export const urlCitation = ({ end, start, title, url }: Link, base: number): JsonObject => ({
  url,
  title,
  start_index: base + (start ?? 0),
  end_index: base + (end ?? start ?? 0)
})

/** Writes a link as the messages wire does. Without a proof of its maker it is not accepted back, and taken out then. */
export const searchLocation = ({ text, title, url }: Link): JsonObject => ({
  type: "web_search_result_location",
  cited_text: text,
  url,
  title,
  encrypted_index: ""
})

/** A link as it is told in words: `title: url`. */
const linkAsText = ({ title, url }: Link): string => (title === "" || title === url ? url : `${title}: ${url}`)

/** The links among citations. */
export const linksIn = (citations: ReadonlyArray<Citation> = []): ReadonlyArray<Link> =>
  citations.flatMap(({ link }) => link ?? [])

/** Links of one message that are looked for in its text; those after them are told in any case. */
const maxLookedFor = 50

/** Links that a message has no place for and does not say, each once. */
const makeUnsaid = (said: string): ((links: ReadonlyArray<Link>) => ReadonlyArray<Link>) => {
  const known = new Set<string>()
  return (links) =>
    links.filter(({ url }) => {
      if (known.has(url)) return false
      known.add(url)
      return known.size > maxLookedFor || !said.includes(url)
    })
}

/** A text with links behind it that have no place beside it. */
const withWords = (
  part: TextPart,
  unsaid: (links: ReadonlyArray<Link>) => ReadonlyArray<Link>,
  keeps: (citation: Citation) => boolean
): TextPart => {
  const all = part.citations ?? []
  const kept = all.filter(keeps)
  if (kept.length === all.length) return part
  const { citations: _citations, ...bare } = part
  const lost = unsaid(linksIn(all.filter((citation) => !keeps(citation))))
  const text = lost.length === 0 ? part.text : `${part.text}\n\n${lost.map(linkAsText).join("\n")}`
  return { ...bare, text, ...(kept.length === 0 ? {} : { citations: kept }) }
}

const hasCitations = (part: Part): boolean => part.type === "text" && part.citations !== undefined

/**
 * The conversation with links in words that its target has no place for; the same object where there are none. Citations that are no links
 * stay, for their encoder to name.
 */
export const withLinksInWords = (
  conversation: Conversation,
  keeps: (citation: Citation) => boolean,
  onMapped: () => void
): Conversation => {
  if (!conversation.messages.some(({ parts }) => parts.some(hasCitations))) return conversation
  const stays = (citation: Citation): boolean => citation.link === undefined || keeps(citation)
  const messages = conversation.messages.map((message): Message => {
    if (!message.parts.some(hasCitations)) return message
    const unsaid = makeUnsaid(message.parts.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n"))
    const parts = message.parts.map((part) => (part.type === "text" ? withWords(part, unsaid, stays) : part))
    if (parts.every((part, index) => part === message.parts[index])) return message
    onMapped()
    return { ...message, parts }
  })
  return { ...conversation, messages }
}

/** A page in a list of results of any wire. */
export const hitOf = (value: Json | undefined): SearchHit | null => {
  const item = objectOr(value)
  const url = addressOf(item["url"] ?? item["uri"])
  if (url === null) return null
  return {
    url,
    title: stringOr(item["title"]) ?? "",
    snippet: stringOr(item["snippet"]) ?? "",
    pageAge: stringOr(item["page_age"])
  }
}
