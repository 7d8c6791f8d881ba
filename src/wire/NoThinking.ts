/**
 * Turns reasoning off in a request of any wire, for the no-thinking alias (docs/reference/model-ids.md): disabled thinking on the
 * messages wire, no reasoning settings on the others. Idempotent; the given body is not changed.
 */
import type { WireName } from "../contract/domain/Wire.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr } from "./json/Json.ts"
import { hasReasoningWords, withoutReasoningWords } from "./chat/ClientReasoning.ts"
import { thinkingRule } from "./gemini/Models.ts"

const omit = (body: JsonObject, ...names: ReadonlyArray<string>): JsonObject => {
  if (!names.some((name) => Object.hasOwn(body, name))) return body
  const kept: Record<string, Json | undefined> = { ...body }
  for (const name of names) delete kept[name]
  return kept
}

/** Context edits that clear thinking are refused when thinking is off. */
const cleansThinking = (edit: Json): boolean =>
  isObject(edit) && typeof edit["type"] === "string" && edit["type"].startsWith("clear_thinking")

const messages = (body: JsonObject): JsonObject => {
  const off = { ...body, thinking: { type: "disabled" } }
  const management = body["context_management"]
  if (!isObject(management) || !isArray(management["edits"])) return off
  const edits = management["edits"].filter((edit) => !cleansThinking(edit))
  if (edits.length === management["edits"].length) return off
  return edits.length === 0 ? omit(off, "context_management") : { ...off, context_management: { ...management, edits } }
}

/** The setting that turns thinking off or to its minimum; empty for a model that may refuse the field altogether. */
const geminiConfig = (model: string): JsonObject => {
  const rule = thinkingRule(model)
  switch (rule.kind) {
    case "budget":
      return { thinkingConfig: { thinkingBudget: rule.offBudget } }
    case "level":
      return { thinkingConfig: { thinkingLevel: "LOW" } }
    case "unknown":
      return {}
  }
}

const gemini = (body: JsonObject, model: string): JsonObject => {
  const name = Object.hasOwn(body, "generation_config") ? "generation_config" : "generationConfig"
  const config = { ...omit(objectOr(body[name]), "thinkingConfig", "thinking_config"), ...geminiConfig(model) }
  return Object.keys(config).length === 0 ? omit(body, name) : { ...body, [name]: config }
}

/** A request of `wire` with reasoning off. `model` is the upstream's own name of the model. */
export const withoutThinking = (wire: WireName, body: JsonObject, model: string): JsonObject => {
  switch (wire) {
    case "messages":
      return messages(body)
    case "chat":
      return omit(hasReasoningWords(body) ? withoutReasoningWords(body) : body, "reasoning_effort")
    case "responses":
      return omit(body, "reasoning")
    case "gemini":
      return gemini(body, model)
    case "ollama":
      return { ...body, think: false }
  }
}
