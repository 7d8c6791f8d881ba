/**
 * A piece of an answer: a line of a stream, or the whole answer. `/api/chat` says it in a `message`, `/api/generate` in members
 * of its own; everything else is the same on both.
 */
import { argsText } from "../canonical/ToolArgs.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../json/Json.ts"
import { inventedCallId } from "./Fingerprint.ts"

/** What a piece says, as `/api/chat` names it. */
export interface Piece {
  readonly content: string
  readonly thinking?: string
  readonly tool_calls?: ReadonlyArray<JsonObject>
}

/** Puts a piece into the shape of its endpoint. */
export type PieceShape = (piece: Piece) => JsonObject

export const chatShape: PieceShape = (piece) => ({ message: { role: "assistant", ...piece } })

export const generateShape: PieceShape = ({ content, ...rest }) => ({ response: content, ...rest })

/** The members of a piece, whichever endpoint it came from; null when it says nothing at all. */
export const saidBy = (line: JsonObject): JsonObject | null => {
  if (isObject(line["message"])) return line["message"]
  return typeof line["response"] === "string" ? { ...line, content: line["response"] } : null
}

export const textOf = (said: JsonObject): string => stringOr(said["content"]) ?? ""
export const thinkingOf = (said: JsonObject): string => stringOr(said["thinking"]) ?? ""

export interface Call {
  readonly id: string
  readonly name: string
  /** JSON text. */
  readonly args: string
}

const decodeCall = (call: Json, createdAt: string, index: number): Call | null => {
  const spec = isObject(call) ? call["function"] : undefined
  if (!isObject(call) || !isObject(spec)) return null
  const name = stringOr(spec["name"]) ?? ""
  const args = argsText(spec["arguments"])
  return { id: stringOr(call["id"]) || inventedCallId(createdAt, index, name, args), name, args }
}

/** Calls come whole, and without ids from older servers; `first` is the index of the first one among those of the answer. */
export const callsOf = (said: JsonObject, createdAt: string, first: number): ReadonlyArray<Call> => {
  const calls = said["tool_calls"]
  if (!isArray(calls)) return []
  return calls.flatMap((call, offset) => decodeCall(call, createdAt, first + offset) ?? [])
}

export const isErrorLine = (line: JsonObject): boolean => (line["error"] ?? null) !== null && line["error"] !== ""
