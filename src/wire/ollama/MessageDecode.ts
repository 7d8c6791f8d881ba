/**
 * The `messages` of an ollama chat request → canonical messages.
 *
 * https://docs.ollama.com/api/chat
 */
import type { ImagePart, Message, Part, ToolCallPart, ToolResultPart } from "../canonical/Conversation.ts"
import { argsText } from "../canonical/tools/ToolArgs.ts"
import { mediaOfUrl } from "../canonical/DataUrl.ts"
import { type FieldReader, mismatch } from "../json/FieldReader.ts"
import { extrasOf, isObject, type Json, type JsonObject, optional } from "../json/Json.ts"
import { imageTypeOf } from "../canonical/ImageType.ts"

const members = {
  assistant: new Set(["role", "content", "images", "thinking", "tool_calls"]),
  tool: new Set(["role", "content", "images", "tool_name", "tool_call_id"]),
  other: new Set(["role", "content", "images"])
} as const

const callMembers = new Set(["id", "type", "function"])
const functionMembers = new Set(["name", "arguments"])
const noBase64 = /[^A-Za-z0-9+/=]/

/** Type sent for an unknown image format: the provider then reports the error itself. */
const unknownType = "application/octet-stream"

const decodeImage = (image: Json, path: string, read: FieldReader): ImagePart | null => {
  if (typeof image !== "string") {
    read.fail(path, mismatch(image, "base64 text"))
    return null
  }
  // Some clients send data URLs, although the wire has bare base64.
  const inline = image.startsWith("data:") ? mediaOfUrl(image) : null
  const data = (inline?.kind === "base64" ? inline.data : image).replaceAll(/[\r\n]/g, "")
  if (data === "" || noBase64.test(data)) {
    read.fail(path, "expected a picture as base64 text")
    return null
  }
  const named = inline?.kind === "base64" ? inline.mediaType : unknownType
  return { type: "image", source: { kind: "base64", mediaType: imageTypeOf(data) ?? named, data } }
}

export const decodeImages = (owner: JsonObject, read: FieldReader, path?: string): ReadonlyArray<ImagePart> => {
  const at = path === undefined ? "images" : `${path}.images`
  return (read.array(owner, "images", path) ?? []).flatMap(
    (image, index) => decodeImage(image, `${at}[${index}]`, read) ?? []
  )
}

/** Text first, then images: the wire does not define their order. */
const decodeContent = (message: JsonObject, path: string, read: FieldReader) => {
  const text = read.string(message, "content", path) ?? ""
  const images = decodeImages(message, read, path)
  return text === "" && images.length > 0 ? images : [{ type: "text" as const, text }, ...images]
}

const decodeCall = (call: Json, id: string, path: string, read: FieldReader): ToolCallPart | null => {
  if (!isObject(call)) {
    read.fail(path, mismatch(call, "an object"))
    return null
  }
  const spec = read.object(call, "function", path) ?? {}
  const at = `${path}.function`
  const name = read.string(spec, "name", at)
  if (name === undefined || name === "") read.fail(`${at}.name`, "a call needs the name of its tool")
  const args = argsText(read.object(spec, "arguments", at))
  const extras = optional("extras", extrasOf(call, callMembers))
  return {
    type: "tool_call",
    id: read.string(call, "id", path) || id,
    name: name ?? "",
    kind: "function",
    args,
    ...extras,
    ...optional("inner", extrasOf(spec, functionMembers))
  }
}

const decodeAssistant = (message: JsonObject, index: number, read: FieldReader): ReadonlyArray<Part> => {
  const path = `messages[${index}]`
  const thinking = read.string(message, "thinking", path) ?? ""
  // An id made from the position in the history is stable when the history grows.
  const calls = (read.array(message, "tool_calls", path) ?? []).flatMap(
    (call, at) => decodeCall(call, `call_${index}_${at}`, `${path}.tool_calls[${at}]`, read) ?? []
  )
  const content = decodeContent(message, path, read)
  const silent = thinking !== "" || calls.length > 0
  return [
    ...(thinking === "" ? [] : [{ type: "reasoning" as const, text: thinking }]),
    ...content.filter((part) => part.type !== "text" || part.text !== "" || !silent),
    ...calls
  ]
}

/** Finds the call of a result: results name its id, only its tool, or are just in the order of the calls. */
interface Pairing {
  readonly open: (calls: ReadonlyArray<Part>) => void
  readonly take: (id: string | undefined, name: string | undefined) => string | null
}

const makePairing = (): Pairing => {
  const unanswered = new Set<string>()
  // Ids with the last call first: taking from the end keeps the order, and reads each id once.
  let inOrder: Array<string> = []
  let byName = new Map<string, Array<string>>()
  const nextOf = (ids: Array<string>): string | undefined => {
    for (let id = ids.pop(); id !== undefined; id = ids.pop()) if (unanswered.has(id)) return id
    return undefined
  }
  return {
    open: (parts) => {
      const calls = parts.filter((part) => part.type === "tool_call").toReversed()
      if (calls.length === 0) return
      unanswered.clear()
      inOrder = []
      byName = new Map(calls.map(({ name }) => [name, []]))
      for (const { id, name } of calls) {
        unanswered.add(id)
        inOrder.push(id)
        byName.get(name)?.push(id)
      }
    },
    take: (id, name) => {
      const answered = id ?? nextOf((name === undefined ? undefined : byName.get(name)) ?? []) ?? nextOf(inOrder)
      if (answered === undefined) return null
      unanswered.delete(answered)
      return answered
    }
  }
}

const decodeResult = (
  message: JsonObject,
  path: string,
  pairing: Pairing,
  read: FieldReader
): ToolResultPart | null => {
  const id = read.string(message, "tool_call_id", path) || undefined
  const callId = pairing.take(id, read.string(message, "tool_name", path))
  if (callId === null) {
    read.fail(path, "a tool message must follow the assistant message with the call it answers")
    return null
  }
  const content = decodeContent(message, path, read)
  return {
    type: "tool_result",
    callId,
    content,
    isError: false,
    ...optional("extras", extrasOf(message, members.tool))
  }
}

export const decodeMessages = (body: JsonObject, read: FieldReader): ReadonlyArray<Message> => {
  const messages = read.array(body, "messages")
  if (messages === undefined || messages.length === 0) {
    read.fail("messages", "at least one message is required")
    return []
  }
  const decoded: Array<Message> = []
  const pairing = makePairing()
  // Consecutive tool messages are one canonical message: the results for one assistant message.
  let results: Array<Part> | null = null
  for (const [index, message] of messages.entries()) {
    const path = `messages[${index}]`
    const role = isObject(message) ? message["role"] : undefined
    if (!isObject(message)) read.fail(path, mismatch(message, "an object"))
    else if (role === "tool") {
      const result = decodeResult(message, path, pairing, read)
      if (results === null) {
        results = []
        decoded.push({ role, parts: results })
      }
      if (result !== null) results.push(result)
      continue
    } else if (role === "assistant") {
      const parts = decodeAssistant(message, index, read)
      pairing.open(parts)
      decoded.push({ role, parts, ...optional("extras", extrasOf(message, members.assistant)) })
    } else if (role === "system" || role === "user") {
      const extras = optional("extras", extrasOf(message, members.other))
      decoded.push({ role, parts: decodeContent(message, path, read), ...extras })
    } else read.fail(`${path}.role`, "expected 'system', 'user', 'assistant' or 'tool'")
    results = null
  }
  return decoded
}
