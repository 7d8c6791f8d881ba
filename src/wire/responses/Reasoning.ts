/**
 * Reasoning items, both ways. Their text is a summary in sections, or (open models) the reasoning itself.
 *
 * https://developers.openai.com/api/docs/guides/reasoning
 */
import type { ReasoningPart } from "../canonical/Conversation.ts"
import { extrasOf, isArray, isObject, type Json, type JsonObject, optional, stringOr } from "../json/Json.ts"
import { isMadeUp } from "./Ids.ts"

const members = new Set(["type", "id", "encrypted_content"])

/** Separates the sections of a summary. */
export const sectionBreak = "\n\n"

const textsOf = (list: Json | undefined): ReadonlyArray<string> =>
  isArray(list) ? list.flatMap((part) => (isObject(part) ? (stringOr(part["text"]) ?? []) : [])) : []

export const reasoningText = (item: JsonObject): string => {
  const summary = textsOf(item["summary"])
  return summary.length > 0 ? summary.join(sectionBreak) : textsOf(item["content"]).join("")
}

/** The provider's state; undefined for an item whose id the gateway made up, or that has neither id nor content. */
export const stateOf = (item: JsonObject): ReasoningPart["state"] => {
  const encrypted = stringOr(item["encrypted_content"]) || null
  const id = stringOr(item["id"]) || null
  const own = id === null || isMadeUp(id) ? null : id
  if (encrypted === null && own === null) return undefined
  return { wire: "responses", ...optional("encrypted", encrypted), ...optional("id", own) }
}

export const decodeReasoning = (item: JsonObject): ReasoningPart => ({
  type: "reasoning",
  text: reasoningText(item),
  ...optional("state", stateOf(item)),
  ...optional("extras", extrasOf(item, members))
})

/** The item of the history; null without this wire's own state: upstreams refuse reasoning they did not write. */
export const encodeReasoning = (part: ReasoningPart, own: boolean): JsonObject | null => {
  const { state } = part
  if (state?.wire !== "responses" || (state.encrypted === undefined && state.id === undefined)) return null
  return {
    type: "reasoning",
    ...optional("id", state.id),
    summary: part.text === "" ? [] : [{ type: "summary_text", text: part.text }],
    ...optional("encrypted_content", state.encrypted),
    ...(own ? part.extras : {})
  }
}
