/**
 * Reads the `/models` answers of the known shapes: `data[]` (OpenAI, Anthropic and most others), `models[]` (Gemini, Ollama).
 * Pure; what cannot be read is left out, never guessed.
 */
import type { ListedModel } from "./ModelLists.ts"

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null)

const tokens = (...values: ReadonlyArray<unknown>): number | null => {
  for (const value of values) if (typeof value === "number" && Number.isFinite(value) && value > 0) return value
  return null
}

const read = (entry: unknown): ListedModel | null => {
  if (typeof entry === "string") return { id: entry, name: null, contextLength: null, maxOutputTokens: null }
  if (!isObject(entry)) return null
  const id = text(entry.id) ?? text(entry.model) ?? text(entry.name)
  if (id === null) return null
  const bare = id.startsWith("models/") ? id.slice("models/".length) : id
  const top = isObject(entry.top_provider) ? entry.top_provider : {}
  return {
    id: bare,
    name: text(entry.display_name) ?? text(entry.displayName) ?? (entry.id === undefined ? null : text(entry.name)),
    contextLength: tokens(
      entry.context_length,
      entry.context_window,
      entry.inputTokenLimit,
      entry.max_model_len,
      entry.max_input_tokens
    ),
    maxOutputTokens: tokens(
      entry.max_output_tokens,
      entry.outputTokenLimit,
      entry.max_completion_tokens,
      top.max_completion_tokens
    )
  }
}

/** The models of an answer; null when the answer is not a model list at all. */
export const readModelList = (body: unknown): ReadonlyArray<ListedModel> | null => {
  const list = Array.isArray(body) ? body : isObject(body) ? (body.data ?? body.models) : null
  if (!Array.isArray(list)) return null
  const seen = new Set<string>()
  const models: Array<ListedModel> = []
  for (const entry of list) {
    const model = read(entry)
    if (model === null || seen.has(model.id)) continue
    seen.add(model.id)
    models.push(model)
  }
  return models
}
