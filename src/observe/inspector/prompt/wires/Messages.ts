/**
 * The messages wire. What makes a cached prompt unfit is the table "What invalidates the cache" of
 * https://platform.claude.com/docs/en/build-with-claude/prompt-caching: tools, `tool_choice`, thinking, pictures, speed.
 */
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../../../../wire/json/Json.ts"
import { PromptParts, type Prompt } from "../Prompt.ts"
import { addContent, holdsPicture } from "./Blocks.ts"

const isReasoning = (block: Json): boolean => {
  const type = objectOr(block)["type"]
  return type === "thinking" || type === "redacted_thinking"
}

/** Claude Code begins its system prompt with a line that differs in each request and is no part of what is cached. */
const billingHeader = "x-anthropic-billing-header:"

const isBillingHeader = (block: Json): boolean => (stringOr(objectOr(block)["text"]) ?? "").startsWith(billingHeader)

const parameters = ["thinking", "tool_choice", "speed", "output_config", "output_format", "context_management"] as const

/** A turn of a user that is more than results of tools. */
const isWritten = (content: Json | undefined): boolean =>
  typeof content === "string" ||
  (isArray(content) && content.some((block) => objectOr(block)["type"] !== "tool_result"))

export const messagesPrompt = (body: JsonObject): Prompt => {
  const parts = new PromptParts()
  const { messages, system, tools } = body
  if (isArray(tools)) {
    tools.forEach((tool, at) => {
      // A tool that is loaded later is no part of the prompt: https://platform.claude.com/docs/en/agents-and-tools/tool-use/tool-use-with-prompt-caching
      if (objectOr(tool)["defer_loading"] !== true) parts.add(tool, { kind: "tools", path: `tools[${at}]` })
    })
  }
  if (isArray(system)) {
    system.forEach((block, at) => {
      if (!isBillingHeader(block)) parts.add(block, { kind: "system", path: `system[${at}]` })
    })
  } else if (typeof system === "string") parts.addText(system, { kind: "system", path: "system" })
  let picture: string | null = null
  if (isArray(messages)) {
    messages.forEach((message, at) => {
      if (!isObject(message)) return
      const { content } = message
      const role = stringOr(message["role"]) ?? ""
      const path = `messages[${at}].content`
      addContent(parts, content, { kind: "message", path, role, message: at }, isReasoning)
      if (role === "user" && isWritten(content)) parts.userWrote()
      if (picture === null && holdsPicture(content)) picture = path
    })
  }
  // One mark for the whole request is behind its last block.
  parts.addMark(body["cache_control"], "")
  for (const name of parameters) parts.addParameter(name, body[name])
  if (picture !== null) parts.addParameter("images", "present")
  return parts.done()
}
