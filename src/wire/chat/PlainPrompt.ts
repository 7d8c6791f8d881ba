/**
 * The texts of a chat request that holds nothing but text, read without decoding it. Says nothing of any other request, nor of one that the
 * decoder would refuse.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import { isArray, isObject, isPositiveInteger, type Json, type JsonObject } from "../json/Json.ts"
import type { PlainPrompt } from "../WireCodec.ts"

type Check = (value: Json) => boolean

const text: Check = (value) => typeof value === "string"
const flag: Check = (value) => typeof value === "boolean"
const number: Check = (value) => typeof value === "number" && Number.isFinite(value)
const texts: Check = (value) => text(value) || (isArray(value) && value.every(text))
const never: Check = () => false

/** Checks that members must pass, when they are there, to be read here. The decoder takes any other member as it is. */
const members = new Map<string, Check>([
  ["model", (value) => text(value) && value !== ""],
  ["stream", flag],
  ["stream_options", isObject],
  ["max_tokens", isPositiveInteger],
  ["max_completion_tokens", isPositiveInteger],
  ["n", isPositiveInteger],
  ["temperature", number],
  ["top_p", number],
  ["top_k", isPositiveInteger],
  ["seed", number],
  ["presence_penalty", number],
  ["frequency_penalty", number],
  ["stop", texts],
  ["logprobs", flag],
  ["top_logprobs", number],
  ["parallel_tool_calls", flag],
  ["reasoning_effort", text],
  ["user", text],
  ["metadata", isObject],
  ["tools", never],
  ["tool_choice", never],
  ["logit_bias", never],
  ["response_format", never]
])

const isAbsent = (value: Json | undefined): value is null | undefined => value === undefined || value === null

const isPlainBody = (body: JsonObject): boolean => {
  for (const key in body) {
    const value = body[key]
    if (isAbsent(value)) continue
    if (members.get(key)?.(value) === false) return false
  }
  return true
}

const isMark = (value: Json | undefined): boolean => isAbsent(value) || isObject(value)

/** The text of a part; null when it is another part, or not a right one. */
const partText = (part: Json): string | null => {
  if (!isObject(part)) return null
  const { cache_control: cached, prompt_cache_breakpoint: breakpoint, text: own, type } = part
  if (type !== "text" && type !== "input_text" && type !== "output_text") return null
  return typeof own === "string" && isMark(cached) && isMark(breakpoint) ? own : null
}

/** Adds the texts of a message; false when it holds something else. */
const readContent = (content: Json | undefined, into: Array<string>): boolean => {
  if (typeof content === "string") {
    into.push(content)
    return true
  }
  if (isAbsent(content)) return true
  if (!isArray(content)) return false
  for (const part of content) {
    const own = partText(part)
    if (own === null) return false
    into.push(own)
  }
  return true
}

const isPlainAssistant = (message: JsonObject): boolean =>
  isAbsent(message["reasoning_content"]) &&
  isAbsent(message["reasoning"]) &&
  isAbsent(message["refusal"]) &&
  isAbsent(message["tool_calls"])

/** Hot. */
export const plainPrompt = (body: JsonObject): PlainPrompt | null => {
  const { messages } = body
  if (!isArray(messages) || messages.length === 0 || isAbsent(body["model"]) || !isPlainBody(body)) return null
  const found: Array<string> = []
  let userFrom = 0
  let userTo = 0
  for (const message of messages) {
    if (!isObject(message)) return null
    const { content, name, role } = message
    const isUser = role === "user"
    if (!isUser && role !== "system" && role !== "developer" && role !== "assistant") return null
    if (!isAbsent(name) && typeof name !== "string") return null
    if (role === "assistant" && !isPlainAssistant(message)) return null
    const from = found.length
    if (!readContent(content, found)) return null
    if (isUser) [userFrom, userTo] = [from, found.length]
  }
  return { texts: found, messageCount: messages.length, userFrom, userTo }
}
