/** The lists of models, in each wire's own words. Pure over the catalogue's entries. */
import type { ListingRoute } from "../../contract/EdgeRoutes.ts"
import { type InvalidRequest, ModelNotFound } from "../../contract/domain/Errors.ts"
import { type CatalogueEntry, type CataloguePage, pageOf } from "../../plane/catalogue/ModelCatalogue.ts"
import { closest } from "../../kernel/text/Closest.ts"
import type { Manifest } from "../../contract/compat/Manifest.ts"
import { pluginManifest } from "../../plane/providers/PluginManifest.ts"
import { otherSpellings } from "../../plane/routing/resolve/ModelIds.ts"
import { type ListedGeminiModel, modelAnswer, modelListAnswer } from "../../wire/gemini/ModelAnswers.ts"
import { type OfferedModel, psAnswer, tagsAnswer, versionAnswer } from "../../wire/ollama/ModelAnswers.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { geminiPath } from "./GeminiPath.ts"
import { pageById, pageByToken } from "../files/ListingPages.ts"

export const offeredOf = (entry: CatalogueEntry): OfferedModel => ({
  id: entry.id,
  owner: entry.owned_by,
  createdMs: entry.created * 1000,
  contextLength: entry.context_length ?? null,
  vision: entry.capabilities?.vision ?? null,
  reasoning: entry.capabilities?.reasoning ?? null,
  toolCalling: entry.capabilities?.tool_calling ?? null
})

const geminiOf = (entry: CatalogueEntry): ListedGeminiModel => ({
  id: entry.id,
  displayName: entry.display_name,
  contextLength: entry.context_length ?? null,
  maxOutputTokens: entry.max_output_tokens ?? null,
  thinking: entry.capabilities?.reasoning ?? null,
  inputModalities: entry.input_modalities ?? null,
  outputModalities: entry.output_modalities ?? null,
  capabilities: entry.capabilities === undefined ? null : { ...entry.capabilities }
})

const page = (entries: ReadonlyArray<CatalogueEntry>, query: URLSearchParams): CataloguePage | InvalidRequest => {
  const found = pageById(entries, query)
  return found instanceof Error ? found : pageOf(found.items, found.hasMore)
}

const geminiPage = (entries: ReadonlyArray<CatalogueEntry>, query: URLSearchParams): JsonObject | InvalidRequest => {
  const found = pageByToken(entries, query)
  return found instanceof Error ? found : modelListAnswer(found.items.map(geminiOf), found.nextToken)
}

/** The entry of an id; also by its other spellings, and by the upstream's bare name of a model. */
export const findEntry = (entries: ReadonlyArray<CatalogueEntry>, id: string): CatalogueEntry | ModelNotFound => {
  for (const spelling of [id, ...otherSpellings(id)]) {
    const found =
      entries.find((entry) => entry.id === spelling) ?? entries.find((entry) => isBareNameOf(spelling, entry))
    if (found !== undefined) return found
  }
  const suggestions = closest(
    id,
    entries.map((entry) => entry.id),
    3
  )
  return new ModelNotFound({ model: id, reason: "it is not on the list of models", suggestions })
}

const isBareNameOf = (name: string, entry: CatalogueEntry): boolean =>
  entry.id.slice(entry.id.indexOf("/") + 1) === name && entry.owned_by !== "combo"

const noQuery = new URLSearchParams()

/** The answer of a listing route, or why there is none. `rest` is what follows the fixed part of its path. */
export const listingOf = (
  key: ListingRoute["key"],
  rest: string,
  entries: ReadonlyArray<CatalogueEntry>,
  query: URLSearchParams = noQuery
): JsonObject | CatalogueEntry | CataloguePage | Manifest | ModelNotFound | InvalidRequest => {
  switch (key) {
    case "inference.models":
      return page(entries, query)
    case "inference.model":
      return findEntry(entries, rest)
    case "inference.geminiModels":
      return geminiPage(entries, query)
    case "inference.geminiModel": {
      const entry = findEntry(entries, geminiPath(rest)?.model ?? "")
      return entry instanceof Error ? entry : modelAnswer(geminiOf(entry))
    }
    case "inference.ollamaTags":
      return tagsAnswer(entries.map(offeredOf))
    case "inference.ollamaPs":
      return psAnswer(entries.map(offeredOf))
    case "inference.ollamaVersion":
      return versionAnswer()
    case "inference.providerManifest":
      return pluginManifest()
  }
}
