/**
 * Reads a `message` or `delta` of a chat answer, across its providers' dialects.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import type { OpaquePart } from "../canonical/Conversation.ts"
import { imageUrlOf, pictureOfUrl } from "../canonical/Pictures.ts"
import { isArray, isObject, type Json, type JsonObject, stringOr } from "../json/Json.ts"

/** Text of a content member: a string, or a list of parts (Mistral). */
const joinParts = (content: Json | undefined, kind: "text" | "thinking"): string => {
  if (!isArray(content)) return ""
  let text = ""
  for (const part of content) {
    if (!isObject(part) || part["type"] !== kind) continue
    const value = part[kind]
    text += typeof value === "string" ? value : joinParts(value, "text")
  }
  return text
}

/** Returns the transcript of sound that comes without text. */
const transcriptOf = ({ audio }: JsonObject): string => (isObject(audio) ? (stringOr(audio["transcript"]) ?? "") : "")

export const textOf = (message: JsonObject): string => {
  const content = message["content"]
  const text = typeof content === "string" ? content : joinParts(content, "text")
  return text === "" ? transcriptOf(message) : text
}

/** `reasoning_content` (DeepSeek, Qwen, xAI …), `reasoning` (Groq, OpenRouter, vLLM), thinking parts (Mistral). */
export const reasoningOf = (message: JsonObject): string => {
  const own = stringOr(message["reasoning_content"]) ?? stringOr(message["reasoning"]) ?? ""
  return own === "" ? joinParts(message["content"], "thinking") : own
}

export const refusalOf = (message: JsonObject): string => stringOr(message["refusal"]) ?? ""

const soundKind = "audio"

/** Sound of the answer, which has its words as text as well. */
export const soundOf = ({ audio }: JsonObject): ReadonlyArray<OpaquePart> =>
  isObject(audio) ? [{ type: "opaque", wire: "chat", kind: soundKind, value: audio }] : []

/** The member `audio` of an answer; null for a block that is none. */
export const soundIn = ({ kind, value, wire }: OpaquePart): JsonObject | null =>
  wire === "chat" && kind === soundKind ? value : null

/** Images of the answer, next to its text (OpenRouter, Vercel, LiteLLM). */
export const imagesOf = (message: JsonObject): ReadonlyArray<OpaquePart> => {
  const { images } = message
  if (!isArray(images)) return []
  return images.flatMap((image): ReadonlyArray<OpaquePart> => {
    const picture = isObject(image) ? pictureOfUrl(image) : undefined
    return isObject(image) && picture !== undefined
      ? [{ type: "opaque", wire: "chat", kind: "images", value: image, picture }]
      : []
  })
}

/** An entry of `images`; null for a block that holds no image. */
export const imageOf = (part: OpaquePart, index: number): JsonObject | null => {
  if (part.wire === "chat") return soundIn(part) === null ? part.value : null
  const image = part.picture === undefined ? null : imageUrlOf(part.picture)
  return image === null ? null : { ...image, index }
}

/** One entry of `tool_calls`: complete in a message, a fragment in a delta. */
export interface CallPiece {
  readonly index: number | null
  readonly id: string | null
  readonly name: string | null
  readonly kind: "function" | "custom"
  readonly args: string
}

const argsPiece = (value: Json | undefined): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value)

const nonEmpty = (value: Json | undefined): string | null => (typeof value === "string" && value !== "" ? value : null)

/** Reads the one call of an answer to a request with functions. */
const functionCallOf = ({ function_call: call }: JsonObject): ReadonlyArray<CallPiece> =>
  isObject(call)
    ? [{ index: 0, id: null, name: nonEmpty(call["name"]), kind: "function", args: argsPiece(call["arguments"]) }]
    : []

export const callsOf = (message: JsonObject): ReadonlyArray<CallPiece> => {
  const calls = message["tool_calls"]
  if (!isArray(calls)) return functionCallOf(message)
  return calls.flatMap((call) => {
    if (!isObject(call)) return []
    const custom = call["custom"]
    const spec = isObject(custom) ? custom : isObject(call["function"]) ? call["function"] : {}
    const index = call["index"]
    return {
      index: typeof index === "number" ? index : null,
      id: nonEmpty(call["id"]),
      name: nonEmpty(spec["name"]),
      kind: isObject(custom) ? ("custom" as const) : ("function" as const),
      args: argsPiece(isObject(custom) ? custom["input"] : spec["arguments"])
    }
  })
}

/** Log probabilities of a choice's text; undefined when it has none. */
export const logprobsOf = (choice: JsonObject): ReadonlyArray<JsonObject> | undefined => {
  const { logprobs } = choice
  const content = isObject(logprobs) ? logprobs["content"] : undefined
  const tokens = isArray(content) ? content.filter(isObject) : []
  return tokens.length === 0 ? undefined : tokens
}

/** The first answer; a request for several is never translated. */
export const firstChoice = (body: JsonObject): JsonObject | undefined => {
  const choices = body["choices"]
  if (!isArray(choices)) return undefined
  for (const choice of choices) if (isObject(choice) && (choice["index"] ?? 0) === 0) return choice
  return undefined
}
