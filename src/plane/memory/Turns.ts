/**
 * The turns of a request in its own wire: which are a user's, what they say, and how a text is put before or into one. Only the items that
 * get a text are made anew; all others stay the objects that they were. Pure.
 */
import type { WireName } from "../../contract/domain/Wire.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../../wire/json/Json.ts"

const memberOf: Readonly<Record<WireName, string>> = {
  chat: "messages",
  messages: "messages",
  ollama: "messages",
  responses: "input",
  gemini: "contents"
}

/** The items of the conversation; null where the request has none in a list. */
export const turnsOf = (wire: WireName, body: JsonObject): ReadonlyArray<Json> | null => {
  const turns = body[memberOf[wire]]
  if (isArray(turns)) return turns
  return wire === "responses" && typeof turns === "string" && turns !== ""
    ? [{ type: "message", role: "user", content: turns }]
    : null
}

export const withTurns = (wire: WireName, body: JsonObject, turns: ReadonlyArray<Json>): JsonObject => ({
  ...body,
  [memberOf[wire]]: turns
})

const partsOf = (wire: WireName, turn: JsonObject): ReadonlyArray<Json> => {
  const parts = wire === "gemini" ? turn["parts"] : turn["content"]
  return isArray(parts) ? parts : []
}

const hasPart = (wire: WireName, turn: Json | undefined, is: (part: JsonObject) => boolean): boolean =>
  isObject(turn) && partsOf(wire, turn).some((part) => isObject(part) && is(part))

const typeOf = ({ type }: JsonObject): string => stringOr(type) ?? ""

const isResult = (part: JsonObject): boolean =>
  part["functionResponse"] !== undefined ||
  part["function_response"] !== undefined ||
  typeOf(part).endsWith("tool_result")

/** Checks whether the turn has text of a person: results of tools do not count. */
export const isUserTurn = (wire: WireName, turn: Json): boolean => {
  if (!isObject(turn)) return false
  if (wire === "responses" && (turn["type"] ?? "message") !== "message") return false
  const role = turn["role"] ?? (wire === "gemini" ? "user" : undefined)
  return role === "user" && !hasPart(wire, turn, isResult)
}

/** Checks whether it asks for a tool: nothing may come between it and the result. */
export const asksTool = (wire: WireName, turn: Json | undefined): boolean => {
  if (!isObject(turn)) return false
  if (wire === "responses") return typeOf(turn).endsWith("_call")
  const calls = turn["tool_calls"]
  if (isArray(calls) && calls.length > 0) return true
  const isCall = (part: JsonObject): boolean =>
    part["type"] === "tool_use" || part["functionCall"] !== undefined || part["function_call"] !== undefined
  return hasPart(wire, turn, isCall)
}

/** Checks whether it holds the result of a tool. */
export const hasResult = (wire: WireName, turn: Json): boolean => {
  if (!isObject(turn)) return false
  if (wire === "responses") return typeOf(turn).endsWith("_call_output")
  return turn["role"] === "tool" || turn["role"] === "function" || hasPart(wire, turn, isResult)
}

/** The text of a turn, a line for each part. */
export const textOf = (wire: WireName, turn: Json | undefined): string => {
  if (!isObject(turn)) return ""
  if (typeof turn["content"] === "string") return turn["content"]
  return partsOf(wire, turn)
    .flatMap((part) => stringOr(objectOr(part)["text"]) ?? [])
    .join("\n")
}

const isMark = (key: string): boolean => key === "cache_control" || key === "prompt_cache_breakpoint"

/** Checks whether the client has set a mark for the provider's prompt cache in it. */
export const isMarked = (wire: WireName, turn: Json): boolean =>
  hasPart(wire, turn, (part) => Object.keys(part).some(isMark))

/**
 * A text as a turn of its own: a system message where the wire has such between turns, unless the model takes none (`asUser`). The messages
 * and gemini wires have none.
 */
export const turnWith = (wire: WireName, text: string, asUser: boolean): JsonObject => {
  const role = asUser ? "user" : "system"
  switch (wire) {
    case "chat":
    case "ollama":
      return { role, content: text }
    case "messages":
      return { role: "user", content: text }
    case "responses":
      return { type: "message", role, content: [{ type: "input_text", text }] }
    case "gemini":
      return { role: "user", parts: [{ text }] }
  }
}

/** The turn with the text as its last part: behind the mark that the client has set in it, or had when the text was put there. */
export const behindMark = (wire: WireName, turn: Json, text: string): Json => {
  if (!isObject(turn)) return turn
  const type = wire === "responses" ? "input_text" : "text"
  const { content } = turn
  const parts = typeof content === "string" ? [{ type, text: content }] : partsOf(wire, turn)
  return { ...turn, content: [...parts, { type, text }] }
}

/** A text alone is the same as a list with it as its one part: clients write the second to set a mark. */
const asPlain = (turn: Json): Json => {
  if (!isObject(turn) || !isArray(turn["content"]) || turn["content"].length !== 1) return turn
  const { text, type, ...others } = objectOr(turn["content"][0])
  const isText = typeof text === "string" && (type === "text" || type === "input_text")
  return isText && Object.keys(others).every(isMark) ? { ...turn, content: text } : turn
}

/** Writes the turn so that the same one in a later request is recognised, where its marks may be elsewhere. */
export const identityOf = (turn: Json): string =>
  JSON.stringify(asPlain(turn), (key, value: unknown) => (isMark(key) ? undefined : value))
