/**
 * `systemInstruction` and `contents` of a gemini request → canonical messages.
 *
 * https://ai.google.dev/api/generate-content
 */
import type { Message, Part, ToolResultPart } from "../canonical/Conversation.ts"
import { argsText } from "../canonical/tools/ToolArgs.ts"
import { joinToolMessages, splitToolResults } from "../canonical/tools/ToolMessages.ts"
import { type FieldReader, mismatch } from "../json/FieldReader.ts"
import { extrasOf, isObject, type Json, type JsonObject, optional, stringOr } from "../json/Json.ts"
import { type CallLedger, makeCallLedger } from "./Calls.ts"
import { joinCalls } from "./stream/CallPieces.ts"
import { camel, listOf } from "./Casing.ts"
import { decodeFileData, decodeInlineData } from "./Media.ts"
import { opaqueOf, stateOf } from "./Part.ts"
import { readResult } from "./ToolResult.ts"

const members = {
  text: new Set(["text", "thought", "thoughtSignature"]),
  functionCall: new Set(["functionCall", "thoughtSignature"]),
  call: new Set(["id", "name", "args", "partialArgs", "willContinue"]),
  functionResponse: new Set(["functionResponse", "thoughtSignature"]),
  result: new Set(["id", "name", "response", "parts"]),
  content: new Set(["role", "parts"])
} as const

interface Reader {
  readonly read: FieldReader
  readonly calls: CallLedger
  /** Results so far, by function and content: clients that resume send each of them again, many without the id of its call. */
  readonly seen: Map<string, string>
}

const decodeText = (part: JsonObject, text: string): Part => {
  const extras = optional("extras", extrasOf(part, members.text))
  return { type: part["thought"] === true ? "reasoning" : "text", text, ...stateOf(part), ...extras }
}

const decodeCall = (part: JsonObject, path: string, { calls, read }: Reader): Part | null => {
  const at = `${path}.functionCall`
  const call = camel(read.object(part, "functionCall", path) ?? {})
  const name = read.string(call, "name", at)
  if (name === undefined || name === "") {
    read.fail(`${at}.name`, "a function call needs a name")
    return null
  }
  return {
    type: "tool_call",
    id: calls.call(read.string(call, "id", at), name),
    name,
    kind: "function",
    args: argsText(read.object(call, "args", at)),
    ...stateOf(part),
    ...optional("extras", extrasOf(part, members.functionCall)),
    ...optional("inner", extrasOf(call, members.call))
  }
}

const decodeResult = (part: JsonObject, path: string, reader: Reader): ToolResultPart | null => {
  const { calls, read } = reader
  const at = `${path}.functionResponse`
  const result = camel(read.object(part, "functionResponse", path) ?? {})
  const name = read.string(result, "name", at)
  if (name === undefined || name === "") {
    read.fail(`${at}.name`, "the name of the function is required")
    return null
  }
  const id = read.string(result, "id", at)
  const { isError, text } = readResult(read.object(result, "response", at) ?? {}, name)
  const content = `${name}\0${text}`
  const callId = calls.answer(id, name) ?? reader.seen.get(content) ?? null
  if (callId !== null) reader.seen.set(content, callId)
  const media = (listOf(result["parts"]) ?? []).flatMap((item, index) => {
    const decoded = decodePart(item, `${at}.parts[${index}]`, reader)
    return decoded?.type === "image" || decoded?.type === "file" || decoded?.type === "opaque" ? decoded : []
  })
  const inner = {
    ...extrasOf(result, members.result),
    // Without a call the name is not known from anywhere else.
    ...(callId === null ? { name } : {})
  }
  return {
    type: "tool_result",
    callId: callId ?? id ?? name,
    content: [{ type: "text", text }, ...media],
    isError,
    ...optional("extras", extrasOf(part, members.functionResponse)),
    ...(Object.keys(inner).length === 0 ? {} : { inner })
  }
}

const decodePart = (source: Json, path: string, reader: Reader): Part | null => {
  const { read } = reader
  if (!isObject(source)) {
    read.fail(path, mismatch(source, "an object"))
    return null
  }
  const part = camel(source)
  const text = read.string(part, "text", path)
  if (text !== undefined) return decodeText(part, text)
  if (isObject(part["functionCall"])) return decodeCall(part, path, reader)
  if (isObject(part["functionResponse"])) return decodeResult(part, path, reader)
  if (isObject(part["inlineData"])) return decodeInlineData(part, path, read)
  if (isObject(part["fileData"])) return decodeFileData(part, path, read)
  const opaque = opaqueOf(part)
  if (opaque !== null) return opaque
  // A signature may come without its text.
  if (stringOr(part["thoughtSignature"]) !== null) return decodeText(part, "")
  read.fail(path, "the part holds no data")
  return null
}

const decodeParts = (content: JsonObject, path: string, reader: Reader): ReadonlyArray<Part> => {
  const parts = listOf(content["parts"])
  if (parts === undefined && (content["parts"] ?? null) !== null) {
    reader.read.fail(`${path}.parts`, mismatch(content["parts"], "an array of parts"))
  }
  const whole = joinCalls((parts ?? []).map((part) => (isObject(part) ? camel(part) : part)))
  if (whole === null) reader.read.fail(`${path}.parts`, "the pieces of a call's arguments cannot be put together")
  return (whole ?? []).flatMap((part, index) => decodePart(part, `${path}.parts[${index}]`, reader) ?? [])
}

/** A model's content may hold the results of its own calls: they become a separate message, and what follows is another turn. */
const splitModelTurn = (parts: ReadonlyArray<Part>, extras: JsonObject | undefined): ReadonlyArray<Message> => {
  const own = optional("extras", extras)
  if (!parts.some((part) => part.type === "tool_result")) return [{ role: "assistant", parts, ...own }]
  const messages: Array<{
    readonly role: "assistant" | "tool"
    readonly parts: Array<Part>
    readonly extras?: JsonObject
  }> = []
  for (const part of parts) {
    const role = part.type === "tool_result" ? "tool" : "assistant"
    const last = messages.at(-1)
    if (last?.role === role) last.parts.push(part)
    else messages.push({ role, parts: [part], ...(last === undefined ? own : {}) })
  }
  return messages
}

const userRoles: ReadonlySet<Json> = new Set(["user", "function", "tool"])

const decodeContents = (contents: ReadonlyArray<Json>, reader: Reader): ReadonlyArray<Message> => {
  let inStep = false
  return contents.flatMap((content, index): ReadonlyArray<Message> => {
    const path = `contents[${index}]`
    if (!isObject(content)) {
      reader.read.fail(path, mismatch(content, "an object"))
      return []
    }
    const role = content["role"] ?? "user"
    const isModel = role === "model"
    if (!isModel && !userRoles.has(role)) {
      reader.read.fail(`${path}.role`, "expected 'user' or 'model'")
      return []
    }
    if (isModel && !inStep) reader.calls.beginStep()
    inStep = isModel
    const parts = decodeParts(content, path, reader)
    const extras = extrasOf(content, members.content)
    return isModel ? splitModelTurn(parts, extras) : splitToolResults(parts, extras)
  })
}

/** The role of the instruction has no meaning. */
const decodeSystem = (body: JsonObject, reader: Reader): ReadonlyArray<Message> => {
  const system = body["systemInstruction"]
  if (system === undefined || system === null || system === "") return []
  if (typeof system === "string") return [{ role: "system", parts: [{ type: "text", text: system }] }]
  if (!isObject(system)) {
    reader.read.fail("systemInstruction", mismatch(system, "a content"))
    return []
  }
  const parts = decodeParts(system, "systemInstruction", reader)
  const extras = optional("extras", extrasOf(system, members.content))
  return parts.length === 0 ? [] : [{ role: "system", parts, ...extras }]
}

/** `body` has its members in camelCase. */
export const decodeMessages = (body: JsonObject, read: FieldReader): ReadonlyArray<Message> => {
  const contents = listOf(body["contents"])
  if (contents === undefined || contents.length === 0) {
    read.fail("contents", "at least one content is required")
    return []
  }
  const reader: Reader = { read, calls: makeCallLedger(), seen: new Map() }
  return [...decodeSystem(body, reader), ...joinToolMessages(decodeContents(contents, reader))]
}
