/** The responses wire (https://developers.openai.com/api/docs/guides/prompt-caching). An earlier answer that is only named is not seen. */
import { isArray, isObject, type JsonObject, stringOr } from "../../../../wire/json/Json.ts"
import { PromptParts, type Prompt } from "../Prompt.ts"
import { addContent, addTools, leadingSystem } from "./Blocks.ts"

const parameters = [
  "tool_choice",
  "parallel_tool_calls",
  "text",
  "reasoning",
  "prompt_cache_key",
  "prompt_cache_retention"
] as const

/** Members of a message that are no text of the prompt. */
const isMessage = (item: JsonObject): boolean => item["type"] === "message" || item["type"] === undefined

const addItem = (parts: PromptParts, item: JsonObject, at: number, isSystem: boolean): void => {
  const path = `input[${at}]`
  const kind = isSystem ? "system" : "message"
  if (item["type"] === "reasoning") return parts.addReasoning(item)
  if (!isMessage(item)) {
    // Ids and states name the item for the provider's store; the model does not read them.
    const { id: _id, status: _status, ...rest } = item
    const role = String(item["type"]).endsWith("_output") ? "tool" : "assistant"
    return parts.add(rest, { kind, path, role, message: at })
  }
  const role = stringOr(item["role"]) ?? ""
  addContent(parts, item["content"], { kind, path: `${path}.content`, role, message: at })
  if (role === "user") parts.userWrote()
}

export const responsesPrompt = (body: JsonObject): Prompt => {
  const parts = new PromptParts()
  addTools(parts, body["tools"])
  const { input, instructions } = body
  if (typeof instructions === "string") parts.addText(instructions, { kind: "system", path: "instructions" })
  if (typeof input === "string") {
    parts.addText(input, { kind: "message", path: "input", role: "user", message: 0 })
    parts.userWrote()
  } else if (isArray(input)) {
    const system = leadingSystem(input)
    input.forEach((item, at) => {
      if (isObject(item)) addItem(parts, item, at, at < system)
    })
  }
  for (const name of ["previous_response_id", "conversation", "prompt"]) {
    if (body[name] !== undefined && body[name] !== null) parts.isContinued()
  }
  for (const name of parameters) parts.addParameter(name, body[name])
  return parts.done()
}
