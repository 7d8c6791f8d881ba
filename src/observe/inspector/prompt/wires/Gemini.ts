/** The gemini wire, in both spellings of its members (https://ai.google.dev/gemini-api/docs/caching). A named cache is not seen. */
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../../../../wire/json/Json.ts"
import { type Place, PromptParts, type Prompt } from "../Prompt.ts"

/** The spelling a body uses. */
const nameIn = (body: JsonObject, camel: string, snake: string): string => (body[camel] === undefined ? snake : camel)

const listOf = (value: Json | undefined): ReadonlyArray<Json> =>
  isArray(value) ? value : value === undefined || value === null ? [] : [value]

/** A signature is no text of the prompt, and clients drop it from old turns. */
const withoutSignature = (part: Json): Json => {
  if (!isObject(part) || (part["thoughtSignature"] === undefined && part["thought_signature"] === undefined))
    return part
  const { thoughtSignature: _camel, thought_signature: _snake, ...rest } = part
  return rest
}

const addParts = (parts: PromptParts, content: JsonObject, place: Place): void => {
  listOf(content["parts"]).forEach((part, at) => {
    if (objectOr(part)["thought"] === true) parts.addReasoning(part)
    else parts.add(withoutSignature(part), { ...place, path: `${place.path}.parts[${at}]` })
  })
}

const addTools = (parts: PromptParts, tools: Json | undefined): void => {
  listOf(tools).forEach((tool, at) => {
    const name = nameIn(objectOr(tool), "functionDeclarations", "function_declarations")
    const declared = objectOr(tool)[name]
    const path = `tools[${at}]`
    if (!isArray(declared)) return parts.add(tool, { kind: "tools", path })
    declared.forEach((one, index) => parts.add(one, { kind: "tools", path: `${path}.${name}[${index}]` }))
    // Tools of the provider's own may be beside the functions.
    const { [name]: _declared, ...rest } = objectOr(tool)
    if (Object.keys(rest).length > 0) parts.add(rest, { kind: "tools", path })
  })
}

const isResult = (part: Json): boolean =>
  objectOr(part)["functionResponse"] !== undefined || objectOr(part)["function_response"] !== undefined

const generation = [
  ["thinkingConfig", "thinking_config"],
  ["responseSchema", "response_schema"],
  ["responseJsonSchema", "response_json_schema"],
  ["responseMimeType", "response_mime_type"]
] as const

export const geminiPrompt = (body: JsonObject): Prompt => {
  const parts = new PromptParts()
  addTools(parts, body["tools"])
  const system = nameIn(body, "systemInstruction", "system_instruction")
  const instruction = body[system]
  if (typeof instruction === "string") parts.addText(instruction, { kind: "system", path: system })
  else if (isObject(instruction)) addParts(parts, instruction, { kind: "system", path: system })
  listOf(body["contents"]).forEach((content, at) => {
    if (!isObject(content)) return
    const role = stringOr(content["role"]) ?? "user"
    addParts(parts, content, { kind: "message", path: `contents[${at}]`, role, message: at })
    if (role === "user" && !listOf(content["parts"]).every(isResult)) parts.userWrote()
  })
  const cached = nameIn(body, "cachedContent", "cached_content")
  if (typeof body[cached] === "string") parts.isContinued()
  parts.addParameter(cached, body[cached])
  const choice = nameIn(body, "toolConfig", "tool_config")
  parts.addParameter(choice, body[choice])
  const config = nameIn(body, "generationConfig", "generation_config")
  const settings = objectOr(body[config])
  for (const [camel, snake] of generation) {
    const name = nameIn(settings, camel, snake)
    parts.addParameter(`${config}.${name}`, settings[name])
  }
  return parts.done()
}
