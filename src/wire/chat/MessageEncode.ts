/**
 * Canonical messages → the `messages` of a chat request.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import type {
  Conversation,
  FilePart,
  ImagePart,
  Marked,
  Message,
  Part,
  ToolResultPart
} from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { reasoningMember } from "../canonical/ReasoningHistory.ts"
import { namedWords, wordsOf } from "../canonical/TextFile.ts"
import { dataUrlOf } from "../canonical/DataUrl.ts"
import { type JsonObject, optional } from "../json/Json.ts"
import type { EncodeOptions } from "../WireCodec.ts"

interface Encoder {
  /** The client speaks this wire too: its own extras and cache marks may be restored. */
  readonly own: boolean
  /** The member for earlier reasoning; null when the endpoint accepts none. */
  readonly reasoning: "reasoning_content" | "reasoning" | null
  readonly log: DropLog
}

const marks = (part: Marked, { log, own }: Encoder): JsonObject => {
  const { cacheBreakpoint, cacheControl, extras } = part
  if (cacheControl !== undefined && !own) log.dropField("cache_control")
  return {
    ...(own ? optional("cache_control", cacheControl) : {}),
    ...optional("prompt_cache_breakpoint", cacheBreakpoint),
    ...(own ? extras : {})
  }
}

/** Returns the members that the client's own wire has inside of a part. */
const innerOf = (part: Marked, { own }: Encoder): JsonObject => (own ? (part.inner ?? {}) : {})

const encodeImage = (part: ImagePart, encoder: Encoder): JsonObject | null => {
  const { source } = part
  if (source.kind !== "base64" && source.kind !== "url") {
    encoder.log.drop("image")
    return null
  }
  const url = source.kind === "base64" ? dataUrlOf(source.mediaType, source.data) : source.url
  return {
    type: "image_url",
    image_url: { url, ...optional("detail", part.detail), ...innerOf(part, encoder) },
    ...marks(part, encoder)
  }
}

const encodeFile = (part: FilePart, encoder: Encoder): JsonObject | null => {
  const { filename, source } = part
  // Servers accept documents as files; a text file is sent as text.
  const words = encoder.own && source.kind !== "text" ? null : wordsOf(source)
  if (words !== null) return { type: "text", text: namedWords(part, words), ...marks(part, encoder) }
  if (source.kind === "file_id" && source.wire === "chat") {
    return {
      type: "file",
      file: { file_id: source.id, ...optional("filename", filename), ...innerOf(part, encoder) },
      ...marks(part, encoder)
    }
  }
  if (source.kind === "url" && encoder.own) {
    return {
      type: "file",
      file: { file_data: source.url, ...optional("filename", filename), ...innerOf(part, encoder) },
      ...marks(part, encoder)
    }
  }
  if (source.kind !== "base64") {
    encoder.log.drop("file")
    return null
  }
  const named = encoder.own ? optional("filename", filename) : { filename: filename ?? "document.pdf" }
  return {
    type: "file",
    file: { file_data: dataUrlOf(source.mediaType, source.data), ...named, ...innerOf(part, encoder) },
    ...marks(part, encoder)
  }
}

const encodePart = (part: Part, encoder: Encoder): JsonObject | null => {
  switch (part.type) {
    case "text":
      if (part.citations !== undefined) encoder.log.drop("citations")
      return { type: "text", text: part.text, ...marks(part, encoder) }
    case "image":
      return encodeImage(part, encoder)
    case "audio":
      return {
        type: "input_audio",
        input_audio: { data: part.data, format: part.format, ...innerOf(part, encoder) },
        ...marks(part, encoder)
      }
    case "file":
      return encodeFile(part, encoder)
    case "opaque":
      if (part.wire === "chat") return part.value
      encoder.log.loseField(`messages.content.${part.kind}`)
      return null
    case "refusal":
      return { type: "refusal", refusal: part.text }
    // Calls, results and reasoning are members of a message here, not parts of its content.
    case "reasoning":
    case "tool_call":
    case "tool_result":
      return null
  }
}

const isPlain = (part: JsonObject): boolean => part["type"] === "text" && Object.keys(part).length === 2

/**
 * One plain text is a string, which every server accepts. Several texts are kept as parts where they came as parts of this wire or of
 * a user message; else they are joined.
 */
const contentOf = (parts: ReadonlyArray<JsonObject>, join: string | null): string | ReadonlyArray<JsonObject> => {
  const [only] = parts
  if (only === undefined) return ""
  if (parts.length === 1 && isPlain(only)) return String(only["text"])
  if (join !== null && parts.every(isPlain)) return parts.map((part) => String(part["text"])).join(join)
  return parts
}

const encodeAssistant = (message: Message, encoder: Encoder): JsonObject => {
  const calls = message.parts.flatMap<JsonObject>((part) => {
    if (part.type !== "tool_call") return []
    const extras = encoder.own ? part.extras : undefined
    const inner = innerOf(part, encoder)
    return part.kind === "custom"
      ? { id: part.id, type: "custom", custom: { name: part.name, input: part.args, ...inner }, ...extras }
      : { id: part.id, type: "function", function: { name: part.name, arguments: part.args, ...inner }, ...extras }
  })
  let reasoning = ""
  let refusal = ""
  for (const part of message.parts) {
    if (part.type === "refusal") refusal += part.text
    if ((part.type === "text" || part.type === "tool_call") && part.state !== undefined) {
      encoder.log.drop("reasoningHistory")
    }
    if (part.type !== "reasoning") continue
    // Reasoning with another provider's signature is only valid there; without one it came from a chat upstream.
    if (part.state === undefined && encoder.reasoning !== null) reasoning += part.text
    else encoder.log.drop("reasoningHistory")
  }
  const parts = message.parts.flatMap<JsonObject>((part) =>
    part.type === "refusal" ? [] : (encodePart(part, encoder) ?? [])
  )
  const content = contentOf(parts, encoder.own ? null : "")
  const empty = content === "" && (calls.length > 0 || refusal !== "")
  return {
    role: "assistant",
    ...optional("name", message.name),
    content: empty ? null : content,
    ...(refusal === "" ? {} : { refusal }),
    ...(reasoning === "" || encoder.reasoning === null ? {} : { [encoder.reasoning]: reasoning }),
    ...(calls.length === 0 ? {} : { tool_calls: calls })
  }
}

/** Tool messages hold text only; images go into a user message right after the results. */
const encodeResults = (message: Message, encoder: Encoder): ReadonlyArray<JsonObject> => {
  const pictures: Array<JsonObject> = []
  const encodeResult = (result: ToolResultPart): JsonObject => {
    const texts: Array<JsonObject> = []
    for (const part of result.content) {
      const encoded = encodePart(part, encoder)
      if (encoded === null) continue
      if (encoded["type"] === "text" || encoder.own) texts.push(encoded)
      else {
        pictures.push(encoded)
        encoder.log.map("toolResultImage")
      }
    }
    if (result.isError) encoder.log.drop("toolError")
    marks(result, encoder)
    const content = contentOf(texts, encoder.own ? null : "\n")
    return { role: "tool", tool_call_id: result.callId, content, ...(encoder.own ? result.extras : {}) }
  }
  const results = message.parts.flatMap<JsonObject>((part) => (part.type === "tool_result" ? encodeResult(part) : []))
  return pictures.length === 0 ? results : [...results, { role: "user", content: pictures }]
}

const encodeMessage = (message: Message, encoder: Encoder): ReadonlyArray<JsonObject> => {
  const extras = encoder.own ? message.extras : undefined
  if (!encoder.own) for (const key of Object.keys(message.extras ?? {})) encoder.log.dropField(`messages.${key}`)
  if (message.role === "tool") return encodeResults(message, encoder)
  if (message.role === "assistant") return [{ ...encodeAssistant(message, encoder), ...extras }]
  const parts = message.parts.flatMap<JsonObject>((part) => encodePart(part, encoder) ?? [])
  // Everything in it was dropped (and reported): an empty message would be refused.
  if (parts.length === 0 && message.parts.length > 0) return []
  const join = message.role === "user" || encoder.own ? null : "\n\n"
  return [{ role: message.role, ...optional("name", message.name), content: contentOf(parts, join), ...extras }]
}

/** The reasoning of a client of this wire is sent as it is, unless the endpoint refuses it. */
const reasoningFor = (own: boolean, { dialect, model }: EncodeOptions): Encoder["reasoning"] =>
  reasoningMember(model, dialect) ?? (own && dialect?.reasoningHistory?.is !== "refused" ? "reasoning_content" : null)

export const encodeMessages = (
  conversation: Conversation,
  options: EncodeOptions,
  log: DropLog
): ReadonlyArray<JsonObject> => {
  const own = conversation.wire === "chat"
  const encoder: Encoder = { own, reasoning: reasoningFor(own, options), log }
  return conversation.messages.flatMap((message) => encodeMessage(message, encoder))
}
