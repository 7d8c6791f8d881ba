/** The lists of models, in each wire's own words. Pure over the catalogue's entries. */
import type { ListingRoute } from "../api/EdgeRoutes.ts"
import { ModelNotFound } from "../domain/Errors.ts"
import type { CatalogueEntry, CataloguePage } from "../inference/ModelCatalogue.ts"
import { pageOf } from "../inference/ModelCatalogue.ts"
import type { NormalPath } from "../kernel/NormalPath.ts"
import { type ListedGeminiModel, modelAnswer, modelListAnswer } from "../wire/gemini/ModelAnswers.ts"
import { type OfferedModel, psAnswer, tagsAnswer, versionAnswer } from "../wire/ollama/ModelAnswers.ts"
import type { JsonObject } from "../wire/json/Json.ts"
import { geminiPath } from "./GeminiPath.ts"

export const offeredOf = (entry: CatalogueEntry): OfferedModel => ({
  id: entry.id,
  owner: entry.owned_by,
  createdMs: entry.created * 1000,
  contextLength: entry.context_length ?? null,
  vision: null,
  reasoning: null,
  toolCalling: null
})

const geminiOf = (entry: CatalogueEntry): ListedGeminiModel => ({
  id: entry.id,
  displayName: entry.display_name,
  contextLength: entry.context_length ?? null,
  maxOutputTokens: entry.max_output_tokens ?? null
})

const found = (entries: ReadonlyArray<CatalogueEntry>, id: string): CatalogueEntry | ModelNotFound =>
  entries.find((entry) => entry.id === id) ??
  new ModelNotFound({ model: id, reason: "it is not on the list of models", suggestions: [] })

/** The answer of a listing route, or why there is none. */
export const listingOf = (
  key: ListingRoute["key"],
  segments: NormalPath,
  entries: ReadonlyArray<CatalogueEntry>
): JsonObject | CatalogueEntry | CataloguePage | ModelNotFound => {
  switch (key) {
    case "inference.models":
      return pageOf(entries)
    case "inference.model":
      return found(entries, segments.slice(2).join("/"))
    case "inference.geminiModels":
      return modelListAnswer(entries.map(geminiOf))
    case "inference.geminiModel": {
      const entry = found(entries, geminiPath(segments)?.model ?? "")
      return entry instanceof Error ? entry : modelAnswer(geminiOf(entry))
    }
    case "inference.ollamaTags":
      return tagsAnswer(entries.map(offeredOf))
    case "inference.ollamaPs":
      return psAnswer(entries.map(offeredOf))
    case "inference.ollamaVersion":
      return versionAnswer()
  }
}
