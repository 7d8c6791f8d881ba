/**
 * `instructions` and `input` of a responses request → canonical messages. The input is a flat list of items; consecutive texts and calls
 * of the assistant are one canonical message, and so are the outputs of its tools.
 *
 * Members of a message item (id, status, phase) are kept as `extras.item` of its first part: they mark where an item begins.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import type { Message, Part, Role, ToolResultPart } from "../canonical/Conversation.ts"
import { argsText } from "../canonical/tools/ToolArgs.ts"
import { type FieldReader, mismatch } from "../json/FieldReader.ts"
import { extrasOf, isArray, isObject, type Json, type JsonObject, optional, stringOr } from "../json/Json.ts"
import { decodeContent } from "./Content.ts"
import { decodeReasoning } from "./Reasoning.ts"
import { flatName } from "./ToolNames.ts"

/** The value of `extras.item` for the text that was `instructions`. */
export const instructionsMark = "instructions"

const members = {
  message: new Set(["type", "role", "content"]),
  call: new Set(["type", "call_id", "name", "arguments", "input"]),
  output: new Set(["type", "call_id", "output"])
} as const

const roles: Readonly<Record<string, Role>> = {
  user: "user",
  assistant: "assistant",
  system: "system",
  developer: "developer"
}

const markFirst = (parts: ReadonlyArray<Part>, item: JsonObject | undefined): ReadonlyArray<Part> => {
  const [first, ...rest] = parts
  if (item === undefined || first === undefined) return parts
  if (first.type === "refusal" || first.type === "opaque") return parts
  return [{ ...first, extras: { ...first.extras, item } }, ...rest]
}

const decodeMessage = (item: JsonObject, path: string, read: FieldReader): Message | null => {
  const word = stringOr(item["role"])
  const role = word !== null && Object.hasOwn(roles, word) ? roles[word] : undefined
  if (role === undefined) {
    read.fail(`${path}.role`, "expected 'user', 'assistant', 'system' or 'developer'")
    return null
  }
  const parts = decodeContent(item, "content", path, read)
  return { role, parts: markFirst(parts, extrasOf(item, members.message)) }
}

const decodeCall = (item: JsonObject, kind: "function" | "custom", path: string, read: FieldReader): Part | null => {
  const id = read.string(item, "call_id", path) ?? ""
  const name = read.string(item, "name", path) ?? ""
  if (id === "" || name === "") {
    read.fail(path, "a call needs a call_id and a name")
    return null
  }
  const namespace = read.string(item, "namespace", path) ?? ""
  // The original name is kept next to the flat one, for an upstream of this wire.
  const extras = { ...extrasOf(item, members.call), ...(namespace === "" ? {} : { name }) }
  return {
    type: "tool_call",
    id,
    name: namespace === "" ? name : flatName(namespace, name),
    kind,
    args: kind === "custom" ? (stringOr(item["input"]) ?? "") : argsText(item["arguments"]),
    ...(Object.keys(extras).length === 0 ? {} : { extras })
  }
}

const decodeOutput = (item: JsonObject, kind: string, path: string, read: FieldReader): ToolResultPart | null => {
  const callId = read.string(item, "call_id", path) ?? ""
  if (callId === "") {
    read.fail(`${path}.call_id`, "the id of the call is required")
    return null
  }
  const content = decodeContent(item, "output", path, read).flatMap((part) =>
    part.type === "text" || part.type === "image" || part.type === "file" || part.type === "opaque" ? part : []
  )
  const extras = { ...extrasOf(item, members.output), ...(kind === "function_call_output" ? {} : { type: kind }) }
  return {
    type: "tool_result",
    callId,
    content,
    isError: false,
    ...(Object.keys(extras).length === 0 ? {} : { extras })
  }
}

/** One item as a message of one part; items that only this wire has stay opaque. */
const decodeItem = (item: Json, path: string, read: FieldReader): Message | null => {
  if (!isObject(item)) {
    read.fail(path, mismatch(item, "an object"))
    return null
  }
  const kind = read.string(item, "type", path) ?? (typeof item["role"] === "string" ? "message" : undefined)
  const alone = (role: Role, part: Part | null): Message | null => (part === null ? null : { role, parts: [part] })
  switch (kind) {
    case undefined:
      read.fail(`${path}.type`, "an item needs a type, or a role")
      return null
    case "message":
      return decodeMessage(item, path, read)
    case "function_call":
      return alone("assistant", decodeCall(item, "function", path, read))
    case "custom_tool_call":
      return alone("assistant", decodeCall(item, "custom", path, read))
    case "function_call_output":
    case "custom_tool_call_output":
      return alone("tool", decodeOutput(item, kind, path, read))
    case "reasoning":
      return alone("assistant", decodeReasoning(item))
    default: {
      // Outputs and approvals come from the client, calls and lists from the model's side.
      const role = kind.endsWith("_output") || kind === "mcp_approval_response" ? "user" : "assistant"
      return alone(role, { type: "opaque", wire: "responses", kind, value: item })
    }
  }
}

const joins = (role: Role): boolean => role === "assistant" || role === "tool"

const joinTurns = (messages: ReadonlyArray<Message>): ReadonlyArray<Message> => {
  const turns: Array<{ readonly role: Role; readonly parts: Array<Part> }> = []
  for (const { parts, role } of messages) {
    const last = turns.at(-1)
    if (last?.role === role && joins(role)) for (const part of parts) last.parts.push(part)
    else turns.push({ role, parts: [...parts] })
  }
  return turns
}

const decodeInput = (body: JsonObject, read: FieldReader): ReadonlyArray<Message> => {
  const { input } = body
  if (input === undefined || input === null) return []
  if (typeof input === "string") return [{ role: "user", parts: [{ type: "text", text: input }] }]
  if (isArray(input)) return joinTurns(input.flatMap((item, index) => decodeItem(item, `input[${index}]`, read) ?? []))
  read.fail("input", mismatch(input, "a string or an array of items"))
  return []
}

/** Checks whether the request refers to a conversation stored by the provider instead of an input. */
export const refersElsewhere = (body: JsonObject): boolean =>
  [body["previous_response_id"], body["conversation"], body["prompt"]].some(
    (reference) => reference !== undefined && reference !== null
  )

export const decodeInputMessages = (body: JsonObject, read: FieldReader): ReadonlyArray<Message> => {
  const instructions = read.string(body, "instructions") ?? ""
  const head: ReadonlyArray<Message> =
    instructions === ""
      ? []
      : [
          {
            role: "system",
            parts: [{ type: "text", text: instructions, ...optional("extras", { item: instructionsMark }) }]
          }
        ]
  const input = body["input"] ?? []
  const nothing = isArray(input) && input.length === 0
  if (nothing && head.length === 0 && !refersElsewhere(body)) read.fail("input", "at least one item is required")
  return [...head, ...decodeInput(body, read)]
}
