/**
 * The chat wire. The schema of structured outputs is before the system prompt, and pictures with another `detail` are other pictures
 * (https://developers.openai.com/api/docs/guides/prompt-caching).
 */
import { isArray, isObject, type JsonObject, stringOr } from "../../../../wire/json/Json.ts"
import { PromptParts, type Prompt } from "../Prompt.ts"
import { addContent, addTools, leadingSystem, restOf } from "./Blocks.ts"

const reasoningMembers = ["reasoning_content", "reasoning", "reasoning_details", "thinking"] as const

const known: ReadonlySet<string> = new Set(["role", "content", "tool_calls", "cache_control", ...reasoningMembers])

const parameters = [
  "tool_choice",
  "parallel_tool_calls",
  "response_format",
  "reasoning_effort",
  "reasoning",
  "thinking",
  "verbosity",
  "prompt_cache_key",
  "prompt_cache_retention"
] as const

/** One message; `at` is its index in the list `path`. */
export const addChatMessage = (parts: PromptParts, message: JsonObject, at: number, isSystem: boolean): void => {
  const path = `messages[${at}]`
  const role = stringOr(message["role"]) ?? ""
  const place = { kind: isSystem ? "system" : "message", role, message: at } as const
  for (const name of reasoningMembers) {
    const value = message[name]
    if (value !== undefined && value !== null && value !== "") parts.addReasoning(value)
  }
  const rest = restOf(message, known)
  if (rest !== null) parts.add(rest, { ...place, path })
  addContent(parts, message["content"], { ...place, path: `${path}.content` })
  const calls = message["tool_calls"]
  if (isArray(calls))
    calls.forEach((call, index) => parts.add(call, { ...place, path: `${path}.tool_calls[${index}]` }))
  parts.addMark(message["cache_control"], path)
  if (role === "user") parts.userWrote()
}

export const chatPrompt = (body: JsonObject): Prompt => {
  const parts = new PromptParts()
  addTools(parts, body["tools"])
  addTools(parts, body["functions"], "functions")
  const messages = isArray(body["messages"]) ? body["messages"] : []
  const system = leadingSystem(messages)
  messages.forEach((message, at) => {
    if (isObject(message)) addChatMessage(parts, message, at, at < system)
  })
  parts.addMark(body["cache_control"], "")
  for (const name of parameters) parts.addParameter(name, body[name])
  return parts.done()
}
