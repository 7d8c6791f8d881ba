/**
 * Canonical messages → the `messages` of an ollama chat request. Content is one text, with images in a separate member.
 *
 * https://docs.ollama.com/api/chat
 */
import type { Conversation, FilePart, ImagePart, Message, Part, ToolCallPart } from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { argsAsObject, argsObject } from "../canonical/tools/ToolArgs.ts"
import { namedWords, videoField, wordsOf } from "../canonical/TextFile.ts"
import type { JsonObject } from "../json/Json.ts"

interface Encoder {
  /** The client speaks this wire too: its own extras may be restored. */
  readonly own: boolean
  readonly log: DropLog
  /** Names of the calls so far, by id: a result must name its tool. */
  readonly toolNames: Map<string, string>
}

/** The converted parts of a message. */
interface Content {
  readonly texts: Array<string>
  readonly images: Array<string>
}

const addImage = ({ source }: ImagePart, content: Content, { log }: Encoder): void => {
  // The server does not follow links, and ids belong to other providers.
  if (source.kind === "base64") content.images.push(source.data)
  else log.drop("image")
}

/** Images and texts sent as files can be converted; documents cannot. */
const addFile = (part: FilePart, content: Content, { log }: Encoder): void => {
  const { source } = part
  if (part.media === "video") return log.loseField(videoField)
  const words = wordsOf(source)
  if (words !== null) content.texts.push(namedWords(part, words))
  else if (source.kind === "base64" && source.mediaType.startsWith("image/")) content.images.push(source.data)
  else log.drop(source.kind === "base64" ? "fileInline" : "file")
}

const addPart = (part: Part, content: Content, encoder: Encoder): void => {
  const { log } = encoder
  if ("cacheControl" in part && part.cacheControl !== undefined) log.dropField("cache_control")
  switch (part.type) {
    case "text":
      if (part.citations !== undefined) log.drop("citations")
      if (content.images.length > 0) log.map("image")
      content.texts.push(part.text)
      return
    case "refusal":
      content.texts.push(part.text)
      return
    case "image":
      if (part.detail !== undefined && part.detail !== "auto") log.drop("imageDetail")
      return addImage(part, content, encoder)
    case "file":
      return addFile(part, content, encoder)
    case "audio":
      return log.drop("audio")
    case "opaque":
      return log.loseField(`messages.content.${part.kind}`)
    // Calls, results and reasoning are members of a message here, not part of its content.
    case "reasoning":
    case "tool_call":
    case "tool_result":
  }
}

const contentOf = (parts: ReadonlyArray<Part>, encoder: Encoder): Content => {
  const content: Content = { texts: [], images: [] }
  for (const part of parts) addPart(part, content, encoder)
  return content
}

const write = ({ images, texts }: Content, join: string): JsonObject => ({
  content: texts.join(join),
  ...(images.length === 0 ? {} : { images })
})

const encodeCall = (call: ToolCallPart, encoder: Encoder): JsonObject => {
  const { log, own, toolNames } = encoder
  if (call.kind === "custom" || argsObject(call.args) === null) log.map("toolArgs")
  if (call.state !== undefined) log.drop("reasoningHistory")
  toolNames.set(call.id, call.name)
  const args = call.kind === "custom" ? { input: call.args } : argsAsObject(call.args)
  const inner = own ? call.inner : {}
  return { id: call.id, function: { name: call.name, arguments: args, ...inner }, ...(own ? call.extras : {}) }
}

const encodeAssistant = (message: Message, encoder: Encoder): JsonObject => {
  let thinking = ""
  const calls: Array<JsonObject> = []
  for (const part of message.parts) {
    if (part.type === "tool_call") calls.push(encodeCall(part, encoder))
    if (part.type !== "reasoning") continue
    // Reasoning with a provider's signature is only valid there.
    if (part.state === undefined) thinking += part.text
    else encoder.log.drop("reasoningHistory")
  }
  return {
    role: "assistant",
    ...write(contentOf(message.parts, encoder), ""),
    ...(thinking === "" ? {} : { thinking }),
    ...(calls.length === 0 ? {} : { tool_calls: calls })
  }
}

const encodeResults = (message: Message, encoder: Encoder): ReadonlyArray<JsonObject> =>
  message.parts.flatMap<JsonObject>((part) => {
    if (part.type !== "tool_result") return []
    if (part.isError) encoder.log.drop("toolError")
    if (part.cacheControl !== undefined) encoder.log.dropField("cache_control")
    const name = encoder.toolNames.get(part.callId)
    return {
      role: "tool",
      ...write(contentOf(part.content, encoder), "\n"),
      ...(name === undefined ? {} : { tool_name: name }),
      tool_call_id: part.callId,
      ...(encoder.own ? part.extras : {})
    }
  })

const encodeMessage = (message: Message, encoder: Encoder): ReadonlyArray<JsonObject> => {
  const { log, own } = encoder
  if (message.name !== undefined) log.dropField("messages.name")
  if (!own) for (const key of Object.keys(message.extras ?? {})) log.dropField(`messages.${key}`)
  if (message.role === "tool") return encodeResults(message, encoder)
  const extras = own ? message.extras : undefined
  if (message.role === "assistant") return [{ ...encodeAssistant(message, encoder), ...extras }]
  const content = contentOf(message.parts, encoder)
  // Everything in it was dropped (and reported): nothing is left to send.
  if (content.texts.length + content.images.length === 0 && message.parts.length > 0) return []
  const role = message.role === "user" ? "user" : "system"
  return [{ role, ...write(content, role === "user" ? "\n" : "\n\n"), ...extras }]
}

export const encodeMessages = (conversation: Conversation, log: DropLog): ReadonlyArray<JsonObject> => {
  const encoder: Encoder = { own: conversation.wire === "ollama", log, toolNames: new Map() }
  return conversation.messages.flatMap((message) => encodeMessage(message, encoder))
}
