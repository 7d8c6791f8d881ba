/** Last question of a conversation, apart from all else of the request. Pure. */
import type { WireName } from "../../../contract/domain/Wire.ts"
import { asksTool, hasResult, isUserTurn, textOf, turnsOf, withTurns } from "../../memory/Turns.ts"
import { isArray, isObject, type Json, type JsonObject } from "../../../wire/json/Json.ts"

export interface Question {
  readonly text: string
  /** The request without it. */
  readonly rest: JsonObject
}

/** Names of the members with tools on the wires; `functions` is the chat wire's older name. */
const toolMembers = ["tools", "functions"]

const offersTools = (body: JsonObject): boolean =>
  toolMembers.some((member) => {
    const tools = body[member]
    return tools !== undefined && tools !== null && !(isArray(tools) && tools.length === 0)
  })

const textTypes: ReadonlySet<unknown> = new Set([undefined, "text", "input_text", "output_text"])

/** Pictures, sounds, files and whatever else is not read as text. */
const isText = (part: Json): boolean =>
  typeof part === "string" || (isObject(part) && typeof part["text"] === "string" && textTypes.has(part["type"]))

const itemTypes: ReadonlySet<unknown> = new Set([undefined, "message"])

const saysTextOnly = (wire: WireName, turn: Json): boolean => {
  if (!isObject(turn) || asksTool(wire, turn) || hasResult(wire, turn)) return false
  if (wire === "responses" && !itemTypes.has(turn["type"])) return false
  const { images } = turn
  if (isArray(images) && images.length > 0) return false
  const content = wire === "gemini" ? turn["parts"] : turn["content"]
  return typeof content === "string" || (isArray(content) && content.every(isText))
}

/**
 * Null where the last turn is not a user's, or something in the conversation is not text: an answer is then for the whole of it, which no
 * vector of the last words stands for.
 */
export const questionOf = (wire: WireName, body: JsonObject, maxChars: number): Question | null => {
  const turns = turnsOf(wire, body)
  const last = turns?.at(-1)
  if (turns === null || last === undefined || !isObject(last) || !isUserTurn(wire, last) || offersTools(body))
    return null
  if (!turns.every((turn) => saysTextOnly(wire, turn))) return null
  const text = textOf(wire, last)
  if (text.trim() === "" || text.length > maxChars) return null
  const { content: _content, parts: _parts, ...others } = last
  return { text, rest: withTurns(wire, body, [...turns.slice(0, -1), others]) }
}
