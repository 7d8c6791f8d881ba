/**
 * Canonical messages → `system` and `messages` of a messages request.
 *
 * https://platform.claude.com/docs/en/api/messages
 */
import type {
  Conversation,
  FilePart,
  Marked,
  MediaSource,
  Message,
  Part,
  ToolResultPart
} from "../canonical/Conversation.ts"
import type { DropLog } from "../canonical/DropLog.ts"
import { asMarkedUser, isSystem, splitSystem } from "../canonical/SystemPlaces.ts"
import { argsAsObject, argsObject } from "../canonical/tools/ToolArgs.ts"
import { videoField, wordsOf } from "../canonical/TextFile.ts"
import { isObject, type JsonObject, optional } from "../json/Json.ts"

interface Encoder {
  /** The client speaks this wire too: its own extras may be restored. */
  readonly own: boolean
  readonly log: DropLog
}

interface Turn {
  readonly role: "user" | "assistant" | "system"
  readonly blocks: Array<JsonObject>
  /** Members of its messages that only this wire has. */
  extras: JsonObject
}

const rest = (
  part: { readonly cacheControl?: JsonObject; readonly extras?: JsonObject },
  { own }: Encoder
): JsonObject => ({
  ...optional("cache_control", part.cacheControl),
  ...(own ? part.extras : {})
})

/** A source of the client's own wire with all that it has. */
const withInner = (source: JsonObject | null, part: Marked, { own }: Encoder): JsonObject | null =>
  source === null || !own || part.inner === undefined ? source : { ...source, ...part.inner }

const encodeSource = (source: MediaSource): JsonObject | null => {
  switch (source.kind) {
    case "base64":
      return { type: "base64", media_type: source.mediaType, data: source.data }
    case "url":
      return { type: "url", url: source.url }
    case "text":
      return { type: "text", media_type: "text/plain", data: source.text }
    case "file_id":
      return source.wire === "messages" ? { type: "file", file_id: source.id } : null
  }
}

/** Documents are PDFs or plain text; an image sent as a file becomes an image, other types cannot be sent. */
const encodeFile = (part: FilePart, encoder: Encoder): JsonObject | null => {
  if (part.media === "video") {
    encoder.log.loseField(videoField)
    return null
  }
  const source = withInner(encodeSource(part.source), part, encoder)
  const title = optional("title", part.filename)
  if (source !== null && (encoder.own || part.source.kind !== "base64")) {
    return { type: "document", source, ...title, ...rest(part, encoder) }
  }
  if (part.source.kind === "base64") {
    const { mediaType } = part.source
    if (mediaType === "application/pdf") return { type: "document", source, ...title, ...rest(part, encoder) }
    if (mediaType.startsWith("image/")) return { type: "image", source, ...rest(part, encoder) }
    const text = wordsOf(part.source)
    if (text !== null) {
      return { type: "document", source: encodeSource({ kind: "text", text }), ...title, ...rest(part, encoder) }
    }
  }
  encoder.log.drop(part.source.kind === "base64" ? "fileInline" : "file")
  return null
}

const encodeResult = (part: ToolResultPart, encoder: Encoder): JsonObject => {
  const blocks = part.content.flatMap<JsonObject>((item) => encodePart(item, encoder) ?? [])
  const content = contentOf(blocks)
  return {
    type: "tool_result",
    tool_use_id: part.callId,
    ...(blocks.length === 0 ? {} : { content }),
    ...(part.isError ? { is_error: true } : {}),
    ...rest(part, encoder)
  }
}

const encodePart = (part: Part, encoder: Encoder): JsonObject | null => {
  const { log } = encoder
  // State on a text or a call belongs to another wire.
  if ((part.type === "text" || part.type === "tool_call") && part.state !== undefined) log.drop("reasoningHistory")
  switch (part.type) {
    case "text": {
      // Empty text blocks are refused.
      if (part.text === "") return null
      const citations = part.citations?.flatMap<JsonObject>(({ value, wire }) => (wire === "messages" ? value : []))
      if (part.citations !== undefined && citations?.length !== part.citations.length) log.drop("citations")
      return {
        type: "text",
        text: part.text,
        ...(citations === undefined || citations.length === 0 ? {} : { citations }),
        ...rest(part, encoder)
      }
    }
    case "refusal":
      return part.text === "" ? null : { type: "text", text: part.text }
    case "image": {
      const source = withInner(encodeSource(part.source), part, encoder)
      if (part.detail !== undefined && part.detail !== "auto") log.drop("imageDetail")
      if (source !== null) return { type: "image", source, ...rest(part, encoder) }
      log.drop("image")
      return null
    }
    case "audio":
      log.drop("audio")
      return null
    case "file":
      return encodeFile(part, encoder)
    case "reasoning": {
      const { state } = part
      if (state?.wire === "messages" && state.signature !== undefined && state.signature !== "") {
        return { type: "thinking", thinking: part.text, signature: state.signature, ...rest(part, encoder) }
      }
      if (state?.wire === "messages" && state.encrypted !== undefined) {
        return { type: "redacted_thinking", data: state.encrypted, ...rest(part, encoder) }
      }
      // Unsigned or foreign reasoning is refused.
      log.drop("reasoningHistory")
      return null
    }
    case "tool_call": {
      if (part.kind === "custom" || argsObject(part.args) === null) log.map("toolArgs")
      const input = part.kind === "custom" ? { input: part.args } : argsAsObject(part.args)
      return { type: "tool_use", id: part.id, name: part.name, input, ...rest(part, encoder) }
    }
    case "tool_result":
      return encodeResult(part, encoder)
    case "opaque":
      if (part.wire === "messages") return part.value
      log.loseField(`messages.content.${part.kind}`)
      return null
  }
}

/** One plain text is written as a string. */
const contentOf = (blocks: ReadonlyArray<JsonObject>): string | ReadonlyArray<JsonObject> => {
  const [only] = blocks
  if (only === undefined || blocks.length > 1 || only["type"] !== "text" || Object.keys(only).length !== 2)
    return blocks
  return String(only["text"])
}

/** Consecutive messages of one role become one turn, so that the results of all calls come first in one message. */
const pushTurn = (
  turns: Array<Turn>,
  role: Turn["role"],
  blocks: ReadonlyArray<JsonObject>,
  extras: JsonObject = {}
): void => {
  if (blocks.length === 0) return
  const last = turns.at(-1)
  if (last?.role !== role) turns.push({ role, blocks: [...blocks], extras })
  else {
    for (const block of blocks) last.blocks.push(block)
    last.extras = { ...last.extras, ...extras }
  }
}

const isResult = (block: JsonObject): boolean => block["type"] === "tool_result"

const resultsFirst = (blocks: ReadonlyArray<JsonObject>): ReadonlyArray<JsonObject> =>
  blocks.some(isResult) ? [...blocks.filter(isResult), ...blocks.filter((block) => !isResult(block))] : blocks

/** A final assistant turn is a prefill, which must not end with white space. */
const trimPrefill = (turns: ReadonlyArray<Turn>, log: DropLog): void => {
  const last = turns.at(-1)
  const block = last?.role === "assistant" ? last.blocks.at(-1) : undefined
  if (last === undefined || !isObject(block) || block["type"] !== "text") return
  const text = String(block["text"])
  const trimmed = text.trimEnd()
  if (trimmed === text) return
  log.mapField("messages.content")
  if (trimmed === "") last.blocks.pop()
  else last.blocks[last.blocks.length - 1] = { ...block, text: trimmed }
}

const noteMessage = (message: Message, { log, own }: Encoder): void => {
  if (message.name !== undefined) log.dropField("messages.name")
  if (!own) for (const key of Object.keys(message.extras ?? {})) log.dropField(`messages.${key}`)
}

/**
 * Checks whether a system message between turns can be sent as one: text, after the user's turn, and before the assistant's or at
 * the end (https://platform.claude.com/docs/en/build-with-claude/mid-conversation-system-messages). Those of a client of this wire
 * are kept.
 */
const mayStand = (
  messages: ReadonlyArray<Message>,
  index: number,
  turns: ReadonlyArray<Turn>,
  { own }: Encoder
): boolean => {
  if (own) return true
  const before = turns.at(-1)?.role
  const next = messages.slice(index + 1).find((message) => !isSystem(message))
  return (
    (before === "user" || before === "system") &&
    (next === undefined || next.role === "assistant") &&
    messages[index]?.parts.every(({ type }) => type === "text") === true
  )
}

/**
 * System and developer messages before the first turn are `system`. Later ones stay in place: as they are where the model accepts them
 * there, else as marked user text. A conversation that has no other messages is sent as the user's.
 */
export const encodeMessages = (conversation: Conversation, systemBetween: boolean, log: DropLog): JsonObject => {
  const encoder: Encoder = { own: conversation.wire === "messages", log }
  const { head, rest: spoken } = splitSystem(conversation.messages)
  const blocksOf = (message: Message): ReadonlyArray<JsonObject> => {
    noteMessage(message, encoder)
    return message.parts.flatMap<JsonObject>((part) => encodePart(part, encoder) ?? [])
  }
  const extrasOf = (message: Message): JsonObject => (encoder.own ? (message.extras ?? {}) : {})
  const system = head.flatMap(blocksOf)
  const turns: Array<Turn> = []
  for (const [index, message] of spoken.entries()) {
    if (message.role === "assistant") pushTurn(turns, "assistant", blocksOf(message), extrasOf(message))
    else if (!isSystem(message)) pushTurn(turns, "user", blocksOf(message), extrasOf(message))
    else if (systemBetween && mayStand(spoken, index, turns, encoder))
      pushTurn(turns, "system", blocksOf(message), extrasOf(message))
    else {
      log.mapField("messages.role")
      pushTurn(turns, "user", blocksOf(asMarkedUser(message)))
    }
  }
  if (turns.length === 0) {
    const spoken = system.pop()
    if (spoken !== undefined) {
      log.mapField("messages.role")
      pushTurn(turns, "user", [spoken])
    }
  }
  trimPrefill(turns, log)
  const messages = turns
    .filter(({ blocks }) => blocks.length > 0)
    .map(({ blocks, extras, role }) => Object.assign({ role, content: contentOf(resultsFirst(blocks)) }, extras))
  return { ...(system.length === 0 ? {} : { system: contentOf(system) }), messages }
}
