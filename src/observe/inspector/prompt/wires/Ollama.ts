/** The ollama wire: a chat, or a single prompt (https://github.com/ollama/ollama/blob/main/docs/api.md). */
import { isArray, isObject, type JsonObject, objectOr } from "../../../../wire/json/Json.ts"
import { PromptParts, type Prompt } from "../Prompt.ts"
import { addTools, leadingSystem } from "./Blocks.ts"
import { addChatMessage } from "./Chat.ts"

const parameters = ["think", "format", "template", "raw"] as const

export const ollamaPrompt = (body: JsonObject): Prompt => {
  const parts = new PromptParts()
  addTools(parts, body["tools"])
  const { messages, prompt, system } = body
  if (typeof system === "string" && system !== "") parts.addText(system, { kind: "system", path: "system" })
  if (isArray(messages)) {
    const first = leadingSystem(messages)
    messages.forEach((message, at) => {
      if (isObject(message)) addChatMessage(parts, message, at, at < first)
    })
  }
  if (typeof prompt === "string" && prompt !== "") {
    parts.addText(prompt, { kind: "message", path: "prompt", role: "user", message: 0 })
    parts.userWrote()
  }
  if (isArray(body["context"])) parts.isContinued()
  for (const name of parameters) parts.addParameter(name, body[name])
  // Another size of the window loads the model anew.
  parts.addParameter("options.num_ctx", objectOr(body["options"])["num_ctx"])
  return parts.done()
}
