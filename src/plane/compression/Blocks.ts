/**
 * The texts of a request in its own wire, in the order in which a model reads them, and the request with other texts in their places. What is
 * not a text for the model (ids, arguments of calls, signed reasoning, media) is no block. Pure.
 */
import type { WireName } from "../../contract/domain/Wire.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, parseJson, stringOr } from "../../wire/json/Json.ts"
import type { Block, Role } from "./Engine.ts"
import { isMarkName } from "./Stability.ts"

type Path = ReadonlyArray<string | number>

export interface PlacedBlock extends Omit<Block, "repeat"> {
  readonly path: Path
  /** Index of the turn in the conversation, counted from 0; -1 for the system text before it. */
  readonly turn: number
}

export interface RequestBlocks {
  readonly blocks: ReadonlyArray<PlacedBlock>
  /** The turns themselves, for telling whether they were seen before. */
  readonly turns: ReadonlyArray<Json>
  /** The last turn in which a person says something; -1 without one. */
  readonly lastUserTurn: number
  /** The last turn in or before which the client has set a mark for the provider's prompt cache; -2: none, -1: before the first turn. */
  readonly lastMarkedTurn: number
}

interface Call {
  readonly name: string
  readonly command: string | null
}

const commandMembers = ["command", "cmd", "script", "commandline"]

/** The command line among the arguments of a call. */
const commandIn = (args: Json | undefined): string | null => {
  const members = typeof args === "string" ? parseJson(args) : args
  if (!isObject(members)) return null
  for (const name of commandMembers) {
    const value = members[name]
    if (typeof value === "string") return value
    if (isArray(value)) return value.filter((part) => typeof part === "string").join(" ")
  }
  return null
}

const isMarked = (item: Json): boolean => {
  if (!isObject(item)) return false
  if (Object.keys(item).some(isMarkName)) return true
  const parts = item["content"] ?? item["parts"]
  return isArray(parts) && parts.some((part) => isObject(part) && Object.keys(part).some(isMarkName))
}

class Reader {
  readonly blocks: Array<PlacedBlock> = []
  readonly calls = new Map<string, Call>()
  lastUserTurn = -1

  text(path: Path, turn: number, role: Role, text: Json | undefined): void {
    if (typeof text !== "string" || text === "") return
    if (role === "user") this.lastUserTurn = turn
    this.blocks.push({ path, turn, role, kind: "text", text, tool: null, isError: false })
  }

  result(path: Path, turn: number, call: Call | null, text: Json | undefined, isError = false): void {
    if (typeof text !== "string" || text === "") return
    this.blocks.push({ path, turn, role: "tool", kind: "tool-result", text, tool: call, isError })
  }

  /** The same, of a text or of parts of which some are. */
  results(path: Path, turn: number, call: Call | null, content: Json | undefined, isError = false): void {
    if (!isArray(content)) return this.result(path, turn, call, content, isError)
    for (const [index, part] of content.entries()) {
      if (isObject(part) && textTypes.has(part["type"])) {
        this.result([...path, index, "text"], turn, call, part["text"], isError)
      }
    }
  }

  called(id: Json | undefined, name: Json | undefined, args: Json | undefined): void {
    if (typeof id === "string") this.calls.set(id, { name: stringOr(name) ?? "", command: commandIn(args) })
  }

  callOf(id: Json | undefined, name?: Json): Call | null {
    const known = typeof id === "string" ? this.calls.get(id) : undefined
    return known ?? (typeof name === "string" ? { name, command: null } : null)
  }
}

const textTypes: ReadonlySet<unknown> = new Set(["text", "input_text", "output_text"])

const roleOf = (role: Json | undefined): Role => {
  if (role === "user" || role === "assistant") return role
  if (role === "model") return "assistant"
  return role === "tool" || role === "function" ? "tool" : "system"
}

const texts = (reader: Reader, path: Path, turn: number, role: Role, content: Json | undefined): void => {
  if (!isArray(content)) return reader.text(path, turn, role, content)
  for (const [index, part] of content.entries()) {
    if (isObject(part) && textTypes.has(part["type"])) reader.text([...path, index, "text"], turn, role, part["text"])
  }
}

const chatTurn = (reader: Reader, path: Path, turn: number, message: JsonObject): void => {
  const role = roleOf(message["role"])
  const calls = message["tool_calls"]
  if (isArray(calls)) {
    for (const call of calls) {
      const { name, arguments: args } = objectOr(objectOr(call)["function"])
      reader.called(objectOr(call)["id"], name, args)
    }
  }
  if (role !== "tool") return texts(reader, [...path, "content"], turn, role, message["content"])
  const called = reader.callOf(message["tool_call_id"], message["tool_name"] ?? message["name"])
  reader.results([...path, "content"], turn, called, message["content"])
}

const messagesTurn = (reader: Reader, path: Path, turn: number, message: JsonObject): void => {
  const role = roleOf(message["role"])
  const { content } = message
  if (!isArray(content)) return texts(reader, [...path, "content"], turn, role, content)
  for (const [index, part] of content.entries()) {
    if (!isObject(part)) continue
    const at = [...path, "content", index]
    if (part["type"] === "text") reader.text([...at, "text"], turn, role, part["text"])
    if (part["type"] === "tool_use") reader.called(part["id"], part["name"], part["input"])
    if (part["type"] === "tool_result") {
      const called = reader.callOf(part["tool_use_id"])
      reader.results([...at, "content"], turn, called, part["content"], part["is_error"] === true)
    }
  }
}

const responsesTurn = (reader: Reader, path: Path, turn: number, item: JsonObject): void => {
  switch (item["type"] ?? "message") {
    case "message":
      return texts(reader, [...path, "content"], turn, roleOf(item["role"]), item["content"])
    case "function_call":
      return reader.called(item["call_id"], item["name"], item["arguments"])
    case "local_shell_call":
      return reader.called(item["call_id"], "shell", item["action"])
    case "custom_tool_call":
      return reader.called(item["call_id"], item["name"], { command: item["input"] ?? null })
    case "function_call_output":
    case "local_shell_call_output":
    case "custom_tool_call_output":
      return reader.results([...path, "output"], turn, reader.callOf(item["call_id"]), item["output"])
    default:
  }
}

/** Members of a function's answer that hold what it has printed. */
const printed = ["output", "result", "content", "stdout", "stderr"]

const geminiTurn = (reader: Reader, path: Path, turn: number, content: JsonObject): void => {
  const parts = content["parts"]
  if (!isArray(parts)) return
  const role = roleOf(content["role"] ?? "user")
  for (const [index, part] of parts.entries()) {
    if (!isObject(part)) continue
    const at = [...path, "parts", index]
    if (part["thought"] !== true && part["thoughtSignature"] === undefined)
      reader.text([...at, "text"], turn, role, part["text"])
    const { args, name } = objectOr(part["functionCall"] ?? part["function_call"])
    if (name !== undefined) reader.called(name, name, args)
    const member = part["functionResponse"] === undefined ? "function_response" : "functionResponse"
    const answer = objectOr(part[member])
    const response = objectOr(answer["response"])
    for (const key of printed) {
      const called = reader.callOf(answer["name"], answer["name"])
      reader.result([...at, member, "response", key], turn, called, response[key])
    }
  }
}

const turnsMember: Readonly<Record<WireName, string>> = {
  chat: "messages",
  messages: "messages",
  ollama: "messages",
  responses: "input",
  gemini: "contents"
}

const turnReaders: Readonly<Record<WireName, typeof chatTurn>> = {
  chat: chatTurn,
  messages: messagesTurn,
  ollama: chatTurn,
  responses: responsesTurn,
  gemini: geminiTurn
}

/** Reads the text before the turns: the system text. */
const readSystem = (reader: Reader, wire: WireName, body: JsonObject): void => {
  if (wire === "messages") texts(reader, ["system"], -1, "system", body["system"])
  if (wire === "responses") reader.text(["instructions"], -1, "system", body["instructions"])
  if (wire !== "gemini") return
  const member = body["systemInstruction"] === undefined ? "system_instruction" : "systemInstruction"
  const parts = objectOr(body[member])["parts"]
  if (!isArray(parts)) return
  for (const [index, part] of parts.entries()) {
    reader.text([member, "parts", index, "text"], -1, "system", objectOr(part)["text"])
  }
}

const marksBefore = (body: JsonObject): boolean =>
  [body["tools"], body["system"]].some((list) => isArray(list) && list.some(isMarked))

export const readBlocks = (wire: WireName, body: JsonObject): RequestBlocks => {
  const reader = new Reader()
  readSystem(reader, wire, body)
  const member = turnsMember[wire]
  const listed = body[member]
  const turns = isArray(listed) ? listed : []
  let lastMarkedTurn = marksBefore(body) ? -1 : -2
  for (const [turn, item] of turns.entries()) {
    if (!isObject(item)) continue
    if (isMarked(item)) lastMarkedTurn = turn
    turnReaders[wire](reader, [member, turn], turn, item)
  }
  // What is asked for in one text is the last user turn.
  if (typeof listed === "string") reader.lastUserTurn = 0
  return { blocks: reader.blocks, turns, lastUserTurn: reader.lastUserTurn, lastMarkedTurn }
}

const replaced = (value: Json | undefined, path: Path, text: string, depth = 0): Json => {
  const step = path[depth]
  if (step === undefined) return text
  if (isArray(value) && typeof step === "number") {
    const copy = value.slice()
    copy[step] = replaced(value[step], path, text, depth + 1)
    return copy
  }
  const object = objectOr(value)
  return { ...object, [step]: replaced(object[step], path, text, depth + 1) }
}

/** The request with other texts at these places; everything else stays the object that it was. */
export const withTexts = (
  body: JsonObject,
  changes: ReadonlyArray<{ readonly path: Path; readonly text: string }>
): JsonObject => {
  const copies = new Map<string, Json>()
  // A list of many turns is copied once, not once per change.
  let changed: Json = body
  for (const { path, text } of changes) {
    const [member, turn] = path
    if (typeof member !== "string" || typeof turn !== "number") {
      changed = replaced(changed, path, text)
      continue
    }
    const list = copies.get(member) ?? objectOr(changed)[member]
    if (!isArray(list)) continue
    const own = copies.has(member) ? (list as Array<Json>) : list.slice()
    own[turn] = replaced(own[turn], path.slice(2), text)
    copies.set(member, own)
  }
  return { ...objectOr(changed), ...Object.fromEntries(copies) }
}
