/**
 * `system` and `messages` of a messages request → canonical messages.
 *
 * https://platform.claude.com/docs/en/api/messages
 */
import type { FilePart, MediaSource, Message, OpaquePart, Part, ToolResultPart } from "../canonical/Conversation.ts"
import { citationsIn } from "../canonical/Links.ts"
import { argsText } from "../canonical/tools/ToolArgs.ts"
import { splitToolResults } from "../canonical/tools/ToolMessages.ts"
import { expectedBase64, isBase64 } from "../canonical/DataUrl.ts"
import { mediaTypeOf } from "../json/MediaType.ts"
import { type FieldReader, mismatch } from "../json/FieldReader.ts"
import { extrasOf, isArray, isObject, type Json, type JsonObject, optional } from "../json/Json.ts"

const members = {
  text: new Set(["type", "text", "cache_control", "citations"]),
  image: new Set(["type", "source", "cache_control"]),
  document: new Set(["type", "source", "title", "cache_control"]),
  thinking: new Set(["type", "thinking", "signature", "cache_control"]),
  redacted_thinking: new Set(["type", "data", "cache_control"]),
  tool_use: new Set(["type", "id", "name", "input", "cache_control"]),
  tool_result: new Set(["type", "tool_use_id", "content", "is_error", "cache_control"])
} as const

const opaque = (kind: string, value: JsonObject): OpaquePart => ({ type: "opaque", wire: "messages", kind, value })

const marksOf = (block: JsonObject, kind: keyof typeof members, path: string, read: FieldReader) => ({
  ...optional("cacheControl", read.object(block, "cache_control", path)),
  ...optional("extras", extrasOf(block, members[kind]))
})

/** Null: a source that only this wire has (`content`), whose block stays opaque. */
const decodeSource = (block: JsonObject, path: string, read: FieldReader): MediaSource | null => {
  const at = `${path}.source`
  const source = read.object(block, "source", path)
  if (source === undefined) {
    read.fail(at, "a source is required")
    return null
  }
  const text = (key: string): string => {
    const value = read.string(source, key, at)
    if (value === undefined) read.fail(`${at}.${key}`, "a string is required")
    return value ?? ""
  }
  switch (source["type"]) {
    case "base64": {
      const data = text("data")
      if (!isBase64(data)) read.fail(`${at}.data`, expectedBase64)
      return { kind: "base64", mediaType: mediaTypeOf(text("media_type")), data }
    }
    case "url":
      return { kind: "url", url: text("url") }
    case "file":
      return { kind: "file_id", wire: "messages", id: text("file_id") }
    case "text":
      return { kind: "text", text: text("data") }
    default:
      return null
  }
}

const sourceMembers = {
  base64: new Set(["type", "media_type", "data"]),
  url: new Set(["type", "url"]),
  file: new Set(["type", "file_id"]),
  text: new Set(["type", "media_type", "data"])
} as const

/** Returns the members that only this wire has in the source of a block. */
const innerOf = ({ source }: JsonObject): { readonly inner?: JsonObject } => {
  if (!isObject(source)) return {}
  const type = source["type"]
  const known = type === "base64" || type === "url" || type === "file" || type === "text" ? sourceMembers[type] : null
  return known === null ? {} : optional("inner", extrasOf(source, known))
}

const decodeDocument = (block: JsonObject, path: string, read: FieldReader): FilePart | OpaquePart => {
  const source = decodeSource(block, path, read)
  if (source === null) return opaque("document", block)
  const filename = optional("filename", read.string(block, "title", path))
  return { type: "file", source, ...filename, ...marksOf(block, "document", path, read), ...innerOf(block) }
}

const decodeResult = (block: JsonObject, path: string, read: FieldReader): ToolResultPart => {
  const callId = read.string(block, "tool_use_id", path)
  if (callId === undefined) read.fail(`${path}.tool_use_id`, "the id of the call is required")
  const content = decodeContent(block, path, read).flatMap((part) =>
    part.type === "text" || part.type === "image" || part.type === "file" || part.type === "opaque" ? part : []
  )
  const isError = read.boolean(block, "is_error", path) ?? false
  return { type: "tool_result", callId: callId ?? "", content, isError, ...marksOf(block, "tool_result", path, read) }
}

const decodeThinking = (block: JsonObject, path: string, read: FieldReader): Part => {
  const signature = read.string(block, "signature", path) ?? ""
  return {
    type: "reasoning",
    text: read.string(block, "thinking", path) ?? "",
    // The gateway writes an empty signature for the reasoning of upstreams without signatures.
    ...(signature === "" ? {} : { state: { wire: "messages", signature } }),
    ...marksOf(block, "thinking", path, read)
  }
}

const decodeCall = (block: JsonObject, path: string, read: FieldReader): Part | null => {
  const id = read.string(block, "id", path)
  const name = read.string(block, "name", path)
  if (id === undefined || name === undefined) {
    read.fail(path, "a tool_use block needs an id and a name")
    return null
  }
  const args = argsText(read.object(block, "input", path))
  return { type: "tool_call", id, name, kind: "function", args, ...marksOf(block, "tool_use", path, read) }
}

const decodeBlock = (block: Json, path: string, read: FieldReader): Part | null => {
  if (!isObject(block)) {
    read.fail(path, mismatch(block, "an object"))
    return null
  }
  const kind = block["type"]
  switch (kind) {
    case "text": {
      const text = read.string(block, "text", path)
      if (text === undefined) read.fail(`${path}.text`, "a text block needs text")
      return {
        type: "text",
        text: text ?? "",
        ...citationsIn("messages", block["citations"], text?.length ?? 0),
        ...marksOf(block, "text", path, read)
      }
    }
    case "image": {
      const source = decodeSource(block, path, read)
      return source === null
        ? opaque("image", block)
        : { type: "image", source, ...marksOf(block, "image", path, read), ...innerOf(block) }
    }
    case "document":
      return decodeDocument(block, path, read)
    case "thinking":
      return decodeThinking(block, path, read)
    case "redacted_thinking": {
      const encrypted = read.string(block, "data", path) ?? ""
      return {
        type: "reasoning",
        text: "",
        state: { wire: "messages", encrypted },
        ...marksOf(block, "redacted_thinking", path, read)
      }
    }
    case "tool_use":
      return decodeCall(block, path, read)
    case "tool_result":
      return decodeResult(block, path, read)
    default:
      if (typeof kind === "string") return opaque(kind, block)
      read.fail(`${path}.type`, "a content block needs a type")
      return null
  }
}

const decodeContent = (owner: JsonObject, path: string, read: FieldReader): ReadonlyArray<Part> => {
  const content = owner["content"]
  if (content === undefined || content === null) return []
  if (typeof content === "string") return [{ type: "text", text: content }]
  if (isArray(content))
    return content.flatMap((block, index) => decodeBlock(block, `${path}.content[${index}]`, read) ?? [])
  read.fail(`${path}.content`, mismatch(content, "a string or an array of blocks"))
  return []
}

const messageMembers = new Set(["role", "content"])

const decodeMessage = (message: Json, path: string, read: FieldReader): ReadonlyArray<Message> => {
  if (!isObject(message)) {
    read.fail(path, mismatch(message, "an object"))
    return []
  }
  const role = message["role"]
  const parts = decodeContent(message, path, read)
  const extras = extrasOf(message, messageMembers)
  if (role === "user") return splitToolResults(parts, extras)
  if (role === "assistant" || role === "system") return [{ role, parts, ...optional("extras", extras) }]
  read.fail(`${path}.role`, "expected 'user', 'assistant' or 'system'")
  return []
}

const billingHeader = "x-anthropic-billing-header:"

/** A client's billing line in the prompt, which changes with every request: kept for this wire only. */
const setApart = (part: Part): Part =>
  part.type === "text" && part.text.startsWith(billingHeader)
    ? opaque("x-anthropic-billing-header", {
        type: "text",
        text: part.text,
        ...optional("cache_control", part.cacheControl)
      })
    : part

const decodeSystem = (body: JsonObject, read: FieldReader): ReadonlyArray<Message> => {
  const { system } = body
  if (system === undefined || system === null || system === "") return []
  if (typeof system === "string") return [{ role: "system", parts: [{ type: "text", text: system }] }]
  if (!isArray(system)) {
    read.fail("system", mismatch(system, "a string or an array of text blocks"))
    return []
  }
  const parts = system.flatMap((block, index) => decodeBlock(block, `system[${index}]`, read) ?? [])
  return parts.length === 0 ? [] : [{ role: "system", parts: parts.map(setApart) }]
}

export const decodeMessages = (body: JsonObject, read: FieldReader): ReadonlyArray<Message> => {
  const messages = read.array(body, "messages")
  if (messages === undefined || messages.length === 0) {
    read.fail("messages", "at least one message is required")
    return []
  }
  return [
    ...decodeSystem(body, read),
    ...messages.flatMap((message, index) => decodeMessage(message, `messages[${index}]`, read))
  ]
}
