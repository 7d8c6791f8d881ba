/** Names a conversation by its system prompt, so that exchanges of the same agent can be put together. Pure. */
import { createHash } from "node:crypto"
import { isArray, isObject, type Json, type JsonObject } from "../../../wire/json/Json.ts"

const keyChars = 12

const textOfPart = (part: Json | undefined): ReadonlyArray<string> => {
  if (typeof part === "string") return [part]
  return isObject(part) && typeof part["text"] === "string" ? [part["text"]] : []
}

/** A text, or the texts of a list of parts with a line end between them; null when there is none. */
const textOf = (value: Json | undefined): string | null => {
  if (typeof value === "string") return value
  if (isObject(value)) return textOf(value["parts"]) ?? textOfPart(value)[0] ?? null
  if (!isArray(value)) return null
  const texts = value.flatMap(textOfPart)
  return texts.length === 0 ? null : texts.join("\n")
}

const isSystem = (message: Json): message is JsonObject =>
  isObject(message) && (message["role"] === "system" || message["role"] === "developer")

const firstSystem = (messages: Json | undefined): string | null => {
  const message = isArray(messages) ? messages.find(isSystem) : undefined
  return isObject(message) ? textOf(message["content"]) : null
}

/** The text of the system prompt, whatever the wire; null when there is none. */
export const systemPromptOf = (body: JsonObject): string | null =>
  firstSystem(body["messages"]) ??
  textOf(body["system"]) ??
  textOf(body["instructions"]) ??
  textOf(body["systemInstruction"]) ??
  textOf(body["system_instruction"]) ??
  firstSystem(body["input"])

/** First 12 hexadecimal digits of the SHA-256 of the system prompt; null without one. */
export const contextKeyOf = (body: JsonObject): string | null => {
  const prompt = systemPromptOf(body)
  return prompt === null ? null : createHash("sha256").update(prompt).digest("hex").slice(0, keyChars)
}
