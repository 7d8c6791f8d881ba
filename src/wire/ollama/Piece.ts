/**
 * A piece of an answer: a line of a stream, or the complete answer. `/api/chat` has it in a `message`, `/api/generate` in members of its
 * own; everything else is the same for both.
 *
 * https://docs.ollama.com/api/chat
 */
import { argsText } from "../canonical/tools/ToolArgs.ts"
import type { OpaquePart } from "../canonical/Conversation.ts"
import { isArray, isObject, type Json, type JsonObject, optional, stringOr } from "../json/Json.ts"
import { inventedCallId } from "./Fingerprint.ts"
import { imageTypeOf } from "../canonical/ImageType.ts"

/** The content of a piece, by the names of `/api/chat`. */
export interface Piece {
  readonly content: string
  readonly thinking?: string
  readonly tool_calls?: ReadonlyArray<JsonObject>
  /** Images as base64 text. */
  readonly images?: ReadonlyArray<string>
}

/** Converts a piece to the shape of its endpoint. */
export type PieceShape = (piece: Piece) => JsonObject

export const chatShape: PieceShape = (piece) => ({ message: { role: "assistant", ...piece } })

/** Shape of the pieces of `/api/generate`, which returns one image, in its own member. */
export const generateShape: PieceShape = ({ content, images, ...rest }) => ({
  response: content,
  ...rest,
  ...optional("image", images?.at(-1))
})

/** The members of a piece of either endpoint; null when it has none. */
export const contentOf = (line: JsonObject): JsonObject | null => {
  if (isObject(line["message"])) return line["message"]
  if (typeof line["response"] === "string") return { ...line, content: line["response"] }
  return typeof line["image"] === "string" ? { ...line, content: "" } : null
}

export const textOf = (content: JsonObject): string => stringOr(content["content"]) ?? ""
export const thinkingOf = (content: JsonObject): string => stringOr(content["thinking"]) ?? ""

const asPicture = (data: string): OpaquePart => ({
  type: "opaque",
  wire: "ollama",
  kind: "images",
  value: { data },
  picture: { kind: "base64", mediaType: imageTypeOf(data) ?? "image/png", data }
})

/** Images of the answer: `images` of a message, `image` of `/api/generate`. */
export const picturesOf = (content: JsonObject): ReadonlyArray<OpaquePart> => {
  const images = isArray(content["images"]) ? content["images"] : [content["image"] ?? null]
  return images.flatMap((data) => (typeof data === "string" && data !== "" ? asPicture(data) : []))
}

/** The base64 text of an image; null for a block that holds none. */
export const imageOf = ({ picture }: OpaquePart): string | null => (picture?.kind === "base64" ? picture.data : null)

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

/** Calls are complete, and have no ids on older servers; `first` is the index of the first one among those of the answer. */
export const callsOf = (content: JsonObject, createdAt: string, first: number): ReadonlyArray<Call> => {
  const calls = content["tool_calls"]
  if (!isArray(calls)) return []
  return calls.flatMap((call, offset) => decodeCall(call, createdAt, first + offset) ?? [])
}

export const isErrorLine = (line: JsonObject): boolean => (line["error"] ?? null) !== null && line["error"] !== ""
