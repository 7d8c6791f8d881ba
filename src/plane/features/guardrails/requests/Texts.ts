/**
 * The texts of a request in its own wire, and how they are replaced. Ids, images, signed or encrypted reasoning, definitions of tools, and marks for
 * caches are none. What is not replaced stays the object that it was. Pure.
 */
import type { WireName } from "../../../../contract/domain/Wire.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../../../../wire/json/Json.ts"

/** Author of a text. `tool`: it came from outside, by a tool. */
export type Author = "system" | "user" | "assistant" | "tool"

export interface Visitor {
  /** The text, or what takes its place. */
  readonly text: (text: string, author: Author) => string
  /** The same of JSON: arguments of a call, or what a tool has answered. */
  readonly data: (value: Json, author: Author) => Json
}

type Change = (value: Json, author: Author) => Json

const withMember = (object: JsonObject, name: string, author: Author, change: Change): JsonObject => {
  const value = object[name]
  if (value === undefined || value === null) return object
  const next = change(value, author)
  return next === value ? object : { ...object, [name]: next }
}

/** Changes several members, one after the other. */
const inMembers = (
  object: JsonObject,
  author: Author,
  changes: Readonly<Record<string, Change | undefined>>
): JsonObject => {
  let next = object
  for (const [name, change] of Object.entries(changes)) {
    if (change !== undefined) next = withMember(next, name, author, change)
  }
  return next
}

const inItems =
  (change: (item: JsonObject, author: Author) => Json): Change =>
  (value, author) => {
    if (!isArray(value)) return value
    let copy: Array<Json> | null = null
    for (const [index, item] of value.entries()) {
      const next = isObject(item) ? change(item, author) : item
      if (next !== item) (copy ??= [...value])[index] = next
    }
    return copy ?? value
  }

const authors: Readonly<Record<string, Author>> = {
  system: "system",
  developer: "system",
  assistant: "assistant",
  model: "assistant",
  tool: "tool",
  function: "tool"
}

const authorOf = (role: Json | undefined): Author => authors[stringOr(role) ?? ""] ?? "user"

interface Changes {
  readonly text: Change
  readonly data: Change
  /** A text, a list of texts, or a list of parts. */
  readonly content: Change
}

const changesOf = ({ data, text }: Visitor): Changes => {
  const inText: Change = (value, author) => (typeof value === "string" ? text(value, author) : value)
  const part = (object: JsonObject, author: Author): Json => {
    switch (object["type"]) {
      // Reasoning that is signed is sent back as it came; the unsigned kind is not sent on by any provider.
      case "thinking":
      case "redacted_thinking":
        return object
      case "tool_use":
      case "server_tool_use":
        return withMember(object, "input", "assistant", data)
      case "tool_result":
      case "mcp_tool_result":
        return withMember(object, "content", "tool", content)
      case "document":
      case "search_result":
        return inMembers(object, author, { source, content, title: inText, context: inText })
      default:
        return inMembers(object, author, { text: inText, refusal: inText })
    }
  }
  /** A document in plain text; others are files. */
  const source: Change = (value, author) => {
    if (!isObject(value)) return value
    return value["type"] === "text"
      ? withMember(value, "data", author, inText)
      : withMember(value, "content", author, content)
  }
  const items = inItems(part)
  const content: Change = (value, author) => {
    if (typeof value === "string") return text(value, author)
    if (isArray(value) && value.every((item) => typeof item === "string")) {
      const next = value.map((item) => text(item, author))
      return next.some((item, index) => item !== value[index]) ? next : value
    }
    return items(value, author)
  }
  return { text: inText, data, content }
}

const chatRequest = (body: JsonObject, { content, data, text }: Changes): JsonObject => {
  const callFunction: Change = (value) => (isObject(value) ? withMember(value, "arguments", "assistant", data) : value)
  const custom: Change = (value) => (isObject(value) ? withMember(value, "input", "assistant", text) : value)
  const calls = inItems((call) => inMembers(call, "assistant", { function: callFunction, custom }))
  const message = inItems((item) =>
    inMembers(item, authorOf(item["role"]), {
      content,
      reasoning_content: text,
      tool_calls: calls,
      function_call: callFunction
    })
  )
  // Of the older wire with a prompt, and of the local runner's.
  return inMembers(body, "user", { messages: message, prompt: content, suffix: text })
}

const messagesRequest = (body: JsonObject, { content }: Changes): JsonObject => {
  const message = inItems((item) => withMember(item, "content", authorOf(item["role"]), content))
  return withMember(withMember(body, "system", "system", content), "messages", "user", message)
}

const responsesItem = (item: JsonObject, { content, data, text }: Changes): Json => {
  const type = stringOr(item["type"]) ?? "message"
  if (type === "message") return withMember(item, "content", authorOf(item["role"]), content)
  if (type === "reasoning") return item
  if (type.endsWith("_call_output")) return withMember(item, "output", "tool", content)
  if (type.endsWith("_call")) return inMembers(item, "assistant", { arguments: data, input: text })
  return item
}

const responsesRequest = (body: JsonObject, changes: Changes): JsonObject => {
  const items = inItems((item) => responsesItem(item, changes))
  const input: Change = (value, author) =>
    typeof value === "string" ? changes.content(value, author) : items(value, author)
  return withMember(withMember(body, "instructions", "system", changes.text), "input", "user", input)
}

const geminiPart = (part: JsonObject, author: Author, { data, text }: Changes): Json => {
  if (part["thought"] === true) return part
  const call: Change = (value) => (isObject(value) ? withMember(value, "args", "assistant", data) : value)
  const answer: Change = (value) => (isObject(value) ? withMember(value, "response", "tool", data) : value)
  const output: Change = (value) => (isObject(value) ? withMember(value, "output", "tool", text) : value)
  return inMembers(part, author, {
    text,
    functionCall: call,
    function_call: call,
    functionResponse: answer,
    function_response: answer,
    codeExecutionResult: output,
    code_execution_result: output
  })
}

const geminiRequest = (body: JsonObject, changes: Changes): JsonObject => {
  const parts = inItems((part, author) => geminiPart(part, author, changes))
  const system: Change = (value) => (isObject(value) ? withMember(value, "parts", "system", parts) : value)
  const contents = inItems((item) => withMember(item, "parts", authorOf(item["role"]), parts))
  return inMembers(body, "user", { systemInstruction: system, system_instruction: system, contents })
}

const ollamaRequest = (body: JsonObject, { content, data, text }: Changes): JsonObject => {
  const called: Change = (value) => (isObject(value) ? withMember(value, "arguments", "assistant", data) : value)
  const calls = inItems((call) => withMember(call, "function", "assistant", called))
  const message = inItems((item) =>
    inMembers(item, authorOf(item["role"]), { content, thinking: text, tool_calls: calls })
  )
  const inSystem = withMember(body, "system", "system", text)
  return inMembers(inSystem, "user", { messages: message, prompt: text, suffix: text })
}

const requests: Readonly<Record<WireName, (body: JsonObject, changes: Changes) => JsonObject>> = {
  chat: chatRequest,
  messages: messagesRequest,
  responses: responsesRequest,
  gemini: geminiRequest,
  ollama: ollamaRequest
}

/** The request with its texts replaced; the same object where nothing was. */
export const mapTexts = (wire: WireName, body: JsonObject, visitor: Visitor): JsonObject =>
  requests[wire](body, changesOf(visitor))
