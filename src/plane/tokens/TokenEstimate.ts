/**
 * Splits a conversation for token counting: the texts that have to be counted, and a figure for everything else. Pure.
 */
import type { Conversation, MediaSource, Message, Part, Tool } from "../../wire/canonical/Conversation.ts"
import type { Family } from "./Family.ts"
import { imageSizeOf } from "./ImageSize.ts"

export interface TokenEstimate {
  readonly texts: ReadonlyArray<string>
  /** Tokens of message overhead, images, audio and documents, in the family's own tokens. */
  readonly fixed: number
}

const audioBytesPerSecond = 16_000
/** Approximate size of a PDF page. */
const bytesPerPage = 75_000

const byteLengthOf = (base64: string): number => Math.floor((base64.length * 3) / 4)

const pagesOf = (source: MediaSource): number =>
  source.kind === "base64" ? Math.max(1, Math.ceil(byteLengthOf(source.data) / bytesPerPage)) : 1

const toolText = (tool: Tool): string => {
  if (tool.type === "builtin") return JSON.stringify(tool.value)
  const { description = "", name } = tool
  const shape = tool.type === "function" ? tool.schema : tool.format
  return JSON.stringify(shape === undefined ? { name, description } : { name, description, shape })
}

/** Adds texts to `texts`; returns the tokens of everything else. */
const reckonPart = (part: Part, family: Family, texts: Array<string>): number => {
  switch (part.type) {
    case "text":
    case "refusal":
    case "reasoning":
      texts.push(part.text)
      return 0
    case "tool_call":
      texts.push(part.name, part.args)
      return 0
    case "tool_result":
      return part.content.reduce((sum, inner) => sum + reckonPart(inner, family, texts), 0)
    case "image": {
      const size = part.source.kind === "base64" ? imageSizeOf(part.source.data) : null
      return family.image(size, part.detail ?? null)
    }
    case "audio":
      return Math.ceil((byteLengthOf(part.data) / audioBytesPerSecond) * family.audioPerSecond)
    case "file": {
      const { source } = part
      if (source.kind === "text") texts.push(source.text)
      else if (source.kind === "base64" && source.mediaType.startsWith("image/")) {
        return family.image(imageSizeOf(source.data), null)
      } else if (source.kind === "base64" && source.mediaType.startsWith("text/")) {
        texts.push(Buffer.from(source.data, "base64").toString("utf8"))
      } else return pagesOf(source) * family.perPage
      return 0
    }
    case "opaque":
      texts.push(JSON.stringify(part.value))
      return 0
  }
}

const isCounted = (part: Part, at: number, lastUser: number, family: Family): boolean =>
  part.type !== "reasoning" || at > lastUser || !family.dropsOldReasoning

const lastUserOf = (messages: ReadonlyArray<Message>): number => messages.findLastIndex(({ role }) => role === "user")

export const reckon = ({ messages, outputFormat, tools }: Conversation, family: Family): TokenEstimate => {
  const texts: Array<string> = tools.map(toolText)
  if (outputFormat?.type === "json_schema") texts.push(JSON.stringify(outputFormat.schema))
  const lastUser = lastUserOf(messages)
  let fixed = tools.length === 0 ? 0 : family.perToolset
  messages.forEach(({ parts }, at) => {
    fixed += family.perMessage
    for (const part of parts) if (isCounted(part, at, lastUser, family)) fixed += reckonPart(part, family, texts)
  })
  return { texts, fixed }
}

/** The total: o200k tokens of the texts converted to the family's, and the rest. Never less than one. */
export const totalOf = (textTokens: number, { fixed }: TokenEstimate, family: Family): number =>
  Math.max(1, Math.ceil(textTokens * family.factor) + fixed)
