/**
 * The `messages` of a chat request → canonical messages.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import type { Message, OpaquePart, Part, Role, TextPart, ToolCallPart } from "../canonical/Conversation.ts"
import { argsText } from "../canonical/tools/ToolArgs.ts"
import { joinToolMessages } from "../canonical/tools/ToolMessages.ts"
import { expectedBase64, isBase64, isBroken, mediaOfUrl } from "../canonical/DataUrl.ts"
import { type FieldReader, mismatch } from "../json/FieldReader.ts"
import { extrasOf, isArray, isObject, type Json, type JsonObject, optional, stringOr } from "../json/Json.ts"

const members = {
  assistant: new Set(["role", "content", "name", "refusal", "reasoning_content", "reasoning", "tool_calls"]),
  tool: new Set(["role", "content", "name", "tool_call_id"]),
  other: new Set(["role", "content", "name"])
} as const

const roles: Readonly<Record<string, Role>> = {
  system: "system",
  developer: "developer",
  user: "user",
  assistant: "assistant",
  tool: "tool"
}

const partMembers = ["type", "cache_control", "prompt_cache_breakpoint"] as const

const mediaMembers = {
  image_url: new Set(["url", "detail"]),
  input_audio: new Set(["data", "format"]),
  file: new Set(["filename", "file_data", "file_id"])
} as const

const decodeMedia = (
  part: JsonObject,
  kind: keyof typeof mediaMembers,
  path: string,
  read: FieldReader
): Part | null => {
  const marks = {
    ...optional("cacheControl", read.object(part, "cache_control", path)),
    ...optional("cacheBreakpoint", read.object(part, "prompt_cache_breakpoint", path)),
    ...optional("extras", extrasOf(part, new Set([...partMembers, kind])))
  }
  const at = `${path}.${kind}`
  const spec =
    kind === "image_url" && typeof part[kind] === "string" ? { url: part[kind] } : read.object(part, kind, path)
  if (spec === undefined) {
    read.fail(at, "the part is empty")
    return null
  }
  const more = { ...marks, ...optional("inner", extrasOf(spec, mediaMembers[kind])) }
  if (kind === "image_url") {
    const url = read.string(spec, "url", at)
    if (url === undefined || url === "") {
      read.fail(`${at}.url`, "a URL is required")
      return null
    }
    const source = mediaOfUrl(url)
    if (isBroken(source)) read.fail(`${at}.url`, expectedBase64)
    return { type: "image", source, ...optional("detail", read.string(spec, "detail", at)), ...more }
  }
  if (kind === "input_audio") {
    const data = read.string(spec, "data", at)
    if (data === undefined) {
      read.fail(`${at}.data`, "audio data is required")
      return null
    }
    if (!isBase64(data)) read.fail(`${at}.data`, expectedBase64)
    return { type: "audio", data, format: read.string(spec, "format", at) ?? "wav", ...more }
  }
  const filename = optional("filename", read.string(spec, "filename", at))
  const data = read.string(spec, "file_data", at)
  if (data !== undefined) {
    const source = mediaOfUrl(data)
    if (isBroken(source)) read.fail(`${at}.file_data`, expectedBase64)
    return { type: "file", source, ...filename, ...more }
  }
  const id = read.string(spec, "file_id", at)
  if (id !== undefined) return { type: "file", source: { kind: "file_id", wire: "chat", id }, ...filename, ...more }
  read.fail(`${at}.file_data`, "file_data or file_id is required")
  return null
}

const decodeText = (part: JsonObject, path: string, read: FieldReader): TextPart | null => {
  const text = read.string(part, "text", path)
  if (text === undefined) {
    read.fail(`${path}.text`, "a text part needs text")
    return null
  }
  return {
    type: "text",
    text,
    ...optional("cacheControl", read.object(part, "cache_control", path)),
    ...optional("cacheBreakpoint", read.object(part, "prompt_cache_breakpoint", path)),
    ...optional("extras", extrasOf(part, new Set([...partMembers, "text"])))
  }
}

const opaque = (kind: string, value: JsonObject): OpaquePart => ({ type: "opaque", wire: "chat", kind, value })

const decodePart = (part: Json, path: string, read: FieldReader): Part | null => {
  if (!isObject(part)) {
    read.fail(path, mismatch(part, "an object"))
    return null
  }
  const kind = part["type"]
  switch (kind) {
    case "text":
    case "input_text":
    case "output_text":
      return decodeText(part, path, read)
    case "refusal":
      return { type: "refusal", text: read.string(part, "refusal", path) ?? "" }
    case "image_url":
    case "input_audio":
    case "file":
      return decodeMedia(part, kind, path, read)
    default:
      if (typeof kind === "string") return opaque(kind, part)
      read.fail(`${path}.type`, "a content part needs a type")
      return null
  }
}

const decodeContent = (message: JsonObject, path: string, read: FieldReader): ReadonlyArray<Part> => {
  const content = message["content"]
  if (content === undefined || content === null) return []
  if (typeof content === "string") return [{ type: "text", text: content }]
  if (isArray(content))
    return content.flatMap((part, index) => decodePart(part, `${path}.content[${index}]`, read) ?? [])
  read.fail(`${path}.content`, mismatch(content, "a string or an array of parts"))
  return []
}

const callMembers = { function: new Set(["name", "arguments"]), custom: new Set(["name", "input"]) } as const

const decodeCall = (call: Json, path: string, read: FieldReader): ToolCallPart | null => {
  if (!isObject(call)) {
    read.fail(path, mismatch(call, "an object"))
    return null
  }
  const id = read.string(call, "id", path)
  const custom = call["custom"]
  const kind = isObject(custom) ? "custom" : "function"
  const spec = isObject(custom) ? custom : read.object(call, "function", path)
  const name = spec === undefined ? undefined : read.string(spec, "name", `${path}.${kind}`)
  if (id === undefined || spec === undefined || name === undefined) {
    read.fail(path, "a tool call needs an id and a name")
    return null
  }
  const args = kind === "custom" ? (stringOr(spec["input"]) ?? "") : argsText(spec["arguments"])
  const extras = extrasOf(call, new Set(["id", "type", "index", "function", "custom"]))
  const inner = extrasOf(spec, callMembers[kind])
  return { type: "tool_call", id, name, kind, args, ...optional("extras", extras), ...optional("inner", inner) }
}

const decodeAssistant = (message: JsonObject, path: string, read: FieldReader): ReadonlyArray<Part> => {
  const reasoning = read.string(message, "reasoning_content", path) ?? stringOr(message["reasoning"])
  const refusal = read.string(message, "refusal", path)
  const calls = (read.array(message, "tool_calls", path) ?? []).flatMap(
    (call, index) => decodeCall(call, `${path}.tool_calls[${index}]`, read) ?? []
  )
  return [
    ...(reasoning === undefined || reasoning === null || reasoning === ""
      ? []
      : [{ type: "reasoning" as const, text: reasoning }]),
    ...decodeContent(message, path, read).filter(
      (part) => part.type !== "text" || part.text !== "" || calls.length === 0
    ),
    ...(refusal === undefined || refusal === "" ? [] : [{ type: "refusal" as const, text: refusal }]),
    ...calls
  ]
}

const decodeToolResult = (message: JsonObject, path: string, read: FieldReader): ReadonlyArray<Part> => {
  const callId = read.string(message, "tool_call_id", path)
  if (callId === undefined) {
    read.fail(`${path}.tool_call_id`, "a tool message needs the id of its call")
    return []
  }
  const content = decodeContent(message, path, read).filter(
    (part) => part.type === "text" || part.type === "image" || part.type === "file" || part.type === "opaque"
  )
  const extras = optional("extras", extrasOf(message, members.tool))
  return [{ type: "tool_result", callId, content, isError: false, ...extras }]
}

const decodeMessage = (message: Json, path: string, read: FieldReader): Message | null => {
  if (!isObject(message)) {
    read.fail(path, mismatch(message, "an object"))
    return null
  }
  const word = stringOr(message["role"])
  const role = word !== null && Object.hasOwn(roles, word) ? roles[word] : undefined
  if (role === undefined) {
    read.fail(`${path}.role`, "expected 'system', 'developer', 'user', 'assistant' or 'tool'")
    return null
  }
  const decode = role === "assistant" ? decodeAssistant : role === "tool" ? decodeToolResult : decodeContent
  const extras =
    role === "tool" ? undefined : extrasOf(message, role === "assistant" ? members.assistant : members.other)
  return {
    role,
    parts: decode(message, path, read),
    ...optional("name", read.string(message, "name", path)),
    ...optional("extras", extras)
  }
}

export const decodeMessages = (body: JsonObject, read: FieldReader): ReadonlyArray<Message> => {
  const messages = read.array(body, "messages")
  if (messages === undefined || messages.length === 0) {
    read.fail("messages", "at least one message is required")
    return []
  }
  return joinToolMessages(
    messages.flatMap((message, index) => decodeMessage(message, `messages[${index}]`, read) ?? [])
  )
}
