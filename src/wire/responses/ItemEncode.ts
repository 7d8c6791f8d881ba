/**
 * Canonical messages → `instructions` and `input` of a responses request.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import type { Conversation, Message, Part, ToolCallPart, ToolResultPart } from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { isObject, type JsonObject } from "../json/Json.ts"
import { encodeInputPart, encodeOutputPart, isOpaqueContent, type PartEncoder } from "./Content.ts"
import { instructionsMark } from "./ItemDecode.ts"
import { encodeReasoning } from "./Reasoning.ts"

interface Encoder extends PartEncoder {
  /** Ids of calls with free-form input: their outputs have a type of their own. */
  readonly customCalls: ReadonlySet<string>
}

const encodeCall = (part: ToolCallPart, { own }: Encoder): JsonObject => ({
  ...(part.kind === "custom"
    ? { type: "custom_tool_call", call_id: part.id, name: part.name, input: part.args }
    : { type: "function_call", call_id: part.id, name: part.name, arguments: part.args }),
  ...(own ? part.extras : {})
})

/** Text alone is a string, which every server accepts; images and files need parts. */
const encodeOutput = (part: ToolResultPart, encoder: Encoder): JsonObject => {
  if (part.isError) encoder.log.drop("toolError")
  const parts = part.content.flatMap<JsonObject>((item) => encodeInputPart(item, encoder) ?? [])
  const plain = encoder.own
    ? parts.length === 1 && part.content[0]?.type === "text" && Object.keys(parts[0] ?? {}).length === 2
    : parts.every(({ type }) => type === "input_text")
  return {
    type: encoder.customCalls.has(part.callId) ? "custom_tool_call_output" : "function_call_output",
    call_id: part.callId,
    output: plain ? parts.map(({ text }) => String(text)).join("\n") : parts,
    ...(encoder.own ? part.extras : {})
  }
}

/** The members a message item had beside its content; undefined when no item begins at this part. */
const itemMark = (part: Part, { own }: Encoder): JsonObject | undefined => {
  const mark = own && "extras" in part ? part.extras?.["item"] : undefined
  return isObject(mark) ? mark : undefined
}

/** Encodes a part that is an item of its own. Undefined: the part belongs into a message; null: it was dropped. */
const encodeItem = (part: Part, encoder: Encoder): JsonObject | null | undefined => {
  switch (part.type) {
    case "tool_call":
      // State on a call belongs to another wire.
      if (part.state !== undefined) encoder.log.drop("reasoningHistory")
      return encodeCall(part, encoder)
    case "tool_result":
      return encodeOutput(part, encoder)
    case "reasoning": {
      const item = encodeReasoning(part, encoder.own)
      if (item === null) encoder.log.drop("reasoningHistory")
      return item
    }
    case "opaque":
      if (part.wire !== "responses" || isOpaqueContent(part)) return undefined
      return part.value
    default:
      return undefined
  }
}

const encodeMessage = (message: Message, encoder: Encoder): ReadonlyArray<JsonObject> => {
  const { log, own } = encoder
  if (message.name !== undefined) log.dropField("messages.name")
  if (!own) for (const key of Object.keys(message.extras ?? {})) log.dropField(`messages.${key}`)
  const items: Array<JsonObject> = []
  const encodePart = message.role === "assistant" ? encodeOutputPart : encodeInputPart
  let content: Array<JsonObject> | null = null
  for (const part of message.parts) {
    const item = encodeItem(part, encoder)
    if (item !== undefined) {
      content = null
      if (item !== null) items.push(item)
      continue
    }
    const encoded = encodePart(part, encoder)
    if (encoded === null) continue
    const mark = itemMark(part, encoder)
    if (content === null || mark !== undefined) {
      content = []
      items.push({ type: "message", role: message.role, content, ...mark })
    }
    content.push(encoded)
  }
  return items
}

const textOf = ({ parts }: Message): string | null => {
  const texts = parts.map((part) => (part.type === "text" ? part.text : null))
  return texts.includes(null) ? null : texts.join("\n\n")
}

/** The text for `instructions`; null when the first message cannot be that. */
const instructionsOf = (messages: ReadonlyArray<Message>, own: boolean): string | null => {
  const [first] = messages
  if (first?.role !== "system") return null
  if (!own) return messages.length > 1 && first.extras === undefined && first.name === undefined ? textOf(first) : null
  const [part] = first.parts
  return part?.type === "text" && part.extras?.["item"] === instructionsMark ? part.text : null
}

/** The first system message is `instructions`; later ones stay in place. Instructions alone are sent as an item. */
export const encodeInputMessages = (conversation: Conversation, log: DropLog): JsonObject => {
  const { messages } = conversation
  const own = conversation.wire === "responses"
  const customCalls = new Set<string>()
  for (const { parts } of messages)
    for (const part of parts) if (part.type === "tool_call" && part.kind === "custom") customCalls.add(part.id)
  const encoder: Encoder = { own, log, customCalls }
  const instructions = instructionsOf(messages, own) || null
  if (instructions === null) return { input: messages.flatMap((message) => encodeMessage(message, encoder)) }
  if (messages[0]?.parts.some((part) => "cacheControl" in part)) log.dropField("cache_control")
  return { instructions, input: messages.slice(1).flatMap((message) => encodeMessage(message, encoder)) }
}
