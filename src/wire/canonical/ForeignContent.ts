/**
 * Blocks that only their own wire has, for the other wires: what they say goes on as text, pictures and files. Pure.
 *
 * Which blocks say what is known to each wire (`WireCodec.partsOf`).
 */
import { type Json, type JsonObject, isArray, isObject, objectOr, stringOr } from "../json/Json.ts"
import type { Conversation, FilePart, ImagePart, Message, OpaquePart, Part, TextPart } from "./Conversation.ts"
import { makeDropLog } from "./DropLog.ts"

/** A part that any wire may have a place for, in a turn and in a tool's result. */
export type PlainPart = TextPart | ImagePart | FilePart

/**
 * Plain parts that a block amounts to. `null`: it says something that no other wire can say. `hint`: it says nothing of the conversation, and
 * may be left out by name.
 */
export type Saying = ReadonlyArray<PlainPart> | "hint" | null

/** Reads the blocks of one wire. */
export type ReadBlock = (part: OpaquePart) => Saying

export const plainText = (text: string): TextPart => ({ type: "text", text })

/** Lines that say something, as one text; null where none does. */
export const linesOf = (...lines: ReadonlyArray<Json | undefined>): string | null => {
  const said = lines.flatMap((line) => (typeof line === "string" && line.trim() !== "" ? line : []))
  return said.length === 0 ? null : said.join("\n")
}

/** A text of these lines; nothing where they are empty. */
export const textOfLines = (...lines: ReadonlyArray<Json | undefined>): ReadonlyArray<TextPart> => {
  const text = linesOf(...lines)
  return text === null ? [] : [plainText(text)]
}

/** Writes a call of a tool as text: `[name] arguments`. */
export const callAsText = (name: string, args: Json | undefined): string =>
  `[${name}] ${typeof args === "string" ? args : JSON.stringify(args ?? {})}`

/** The texts in a list of blocks, or a text. */
export const textsIn = (content: Json | undefined): ReadonlyArray<string> => {
  if (typeof content === "string") return [content]
  return isArray(content) ? content.flatMap((block) => stringOr(objectOr(block)["text"]) ?? []) : []
}

/** Members that say what a block is, and nothing of the conversation. */
const labels: ReadonlySet<string> = new Set(["type", "status", "cache_control"])

const isEmpty = (value: Json | undefined): boolean =>
  value === undefined ||
  value === null ||
  value === "" ||
  (typeof value === "object" && Object.keys(value).length === 0)

/** A block that nothing is known of: its text, if it has one; one without any content says nothing. */
export const unknownBlock = (value: JsonObject): Saying => {
  const text = stringOr(value["text"])
  if (text !== null && text !== "") return [plainText(text)]
  return Object.entries(value).every(([name, member]) => labels.has(name) || isEmpty(member)) ? "hint" : null
}

const isOpaque = (part: Part): part is OpaquePart => part.type === "opaque"

const hasOpaque = ({ parts }: Message): boolean =>
  parts.some((part) => isOpaque(part) || (part.type === "tool_result" && part.content.some(isOpaque)))

const cacheMark = (value: JsonObject): Pick<TextPart, "cacheControl"> => {
  const mark = value["cache_control"]
  return isObject(mark) ? { cacheControl: mark } : {}
}

/** Texts that follow each other are one, so that no wire joins them without a space. */
const together = (parts: ReadonlyArray<PlainPart>): ReadonlyArray<PlainPart> => {
  const joined: Array<PlainPart> = []
  for (const part of parts) {
    const last = joined.at(-1)
    if (part.type === "text" && last?.type === "text")
      joined[joined.length - 1] = { ...last, text: `${last.text}\n${part.text}` }
    else joined.push(part)
  }
  return joined
}

/** Texts of an assistant are joined as they are: what was a block of its own is in a paragraph of its own. */
const apart = (parts: ReadonlyArray<Part>, isSaid: ReadonlySet<Part>): ReadonlyArray<Part> =>
  parts.map((part, index) => {
    const next = parts[index + 1]
    if (part.type !== "text" || next?.type !== "text" || !(isSaid.has(part) || isSaid.has(next))) return part
    return { ...part, text: `${part.text}\n\n` }
  })

/** The conversation in which the blocks of its wire say what they say; the same object where there is none. */
export const withPlainContent = (conversation: Conversation, read: ReadBlock): Conversation => {
  if (!conversation.messages.some(hasOpaque)) return conversation
  const log = makeDropLog(conversation.wire)
  const said = (part: OpaquePart): ReadonlyArray<PlainPart | OpaquePart> => {
    const saying = part.wire === conversation.wire ? read(part) : null
    if (saying === null) return [part]
    if (saying === "hint") {
      log.dropField(`messages.content.${part.kind}`)
      return []
    }
    log.mapField(`messages.content.${part.kind}`)
    const whole = together(saying)
    const last = whole.at(-1)
    const parts = last === undefined ? whole : whole.with(whole.length - 1, { ...last, ...cacheMark(part.value) })
    for (const item of parts) isSaid.add(item)
    return parts
  }
  const isSaid = new Set<Part>()
  const messages = conversation.messages.map((message): Message => {
    if (!hasOpaque(message)) return message
    const parts = message.parts.flatMap((part): ReadonlyArray<Part> => {
      if (isOpaque(part)) return said(part)
      if (part.type !== "tool_result" || !part.content.some(isOpaque)) return [part]
      return [{ ...part, content: part.content.flatMap((item) => (isOpaque(item) ? said(item) : [item])) }]
    })
    return { ...message, parts: message.role === "assistant" ? apart(parts, isSaid) : parts }
  })
  return {
    ...conversation,
    messages,
    leftOut: [...(conversation.leftOut ?? []), ...log.dropped],
    bent: [...(conversation.bent ?? []), ...log.mapped]
  }
}
