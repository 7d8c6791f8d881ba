/**
 * Marks for a prompt cache where clients of this wire put them besides content parts: on a message, on a tool's function, and on the request.
 * On the messages wire they are on the last block of that message, on the tool, and on the request
 * (https://platform.claude.com/docs/en/build-with-claude/prompt-caching). The AI SDK's `@ai-sdk/openai-compatible` writes what a client sets in
 * `providerOptions` onto the message; LiteLLM's clients mark messages and functions (https://docs.litellm.ai/docs/completion/prompt_caching).
 */
import type { Message, Part, Tool } from "../canonical/Conversation.ts"
import { isObject, type JsonObject } from "../json/Json.ts"

const member = "cache_control"

/** The mark among the members that have no canonical form, and the members without it. */
const markIn = (
  extras: JsonObject | undefined
): { readonly mark: JsonObject; readonly rest: { readonly extras?: JsonObject } } | null => {
  const mark = extras?.[member]
  if (!isObject(mark)) return null
  const { [member]: _mark, ...rest } = extras ?? {}
  return { mark, rest: Object.keys(rest).length === 0 ? {} : { extras: rest } }
}

/** Reasoning, refusals and empty texts cannot bear a mark. */
const mayBear = (part: Part): boolean =>
  part.type !== "reasoning" &&
  part.type !== "refusal" &&
  part.type !== "opaque" &&
  (part.type !== "text" || part.text !== "")

const withMark = (part: Part, cacheControl: JsonObject): Part =>
  part.type === "refusal" || part.type === "opaque" || part.cacheControl !== undefined
    ? part
    : { ...part, cacheControl }

const markedPart = (part: Part): Part => {
  if (part.type !== "tool_result" && part.type !== "tool_call") return part
  const found = markIn(part.extras)
  if (found === null) return part
  const { extras: _extras, ...bare } = part
  return withMark({ ...bare, ...found.rest }, found.mark)
}

/** The message with its marks on parts, as the other wires know them. */
export const markedMessage = (message: Message): Message => {
  const parts = message.parts.map(markedPart)
  const found = markIn(message.extras)
  if (found === null) return { ...message, parts }
  const { extras: _extras, ...bare } = message
  const at = parts.findLastIndex(mayBear)
  const last = parts[at]
  return { ...bare, ...found.rest, parts: last === undefined ? parts : parts.with(at, withMark(last, found.mark)) }
}

/** The tool with the mark of its function. */
export const markedTool = (tool: Tool): Tool => {
  if (tool.type === "builtin") return tool
  const found = markIn(tool.extras)
  if (found === null) return tool
  const { extras: _extras, ...bare } = tool
  return { cacheControl: found.mark, ...bare, ...found.rest }
}
