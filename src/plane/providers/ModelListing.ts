/**
 * Reads the `/models` answers of the known shapes: `data[]` (OpenAI, Anthropic and most others), `models[]` (Gemini, Ollama).
 * Pure; what cannot be read is left out, never guessed. Everything that is read has a limit: a list is foreign text.
 */
import { type Modality, settleFacts, unknownFacts } from "./ModelFacts.ts"
import type { ListedModel } from "./ListedModel.ts"

/** Models that are kept of one list. */
export const maxModels = 5_000
/** Entries that are looked at: some may be unreadable, or there twice. */
const maxLookedAt = 2 * maxModels
/** A model with a longer id is left out: it could not be asked for. */
const maxIdLength = 512
const maxNameLength = 200
/** Words that are read of a list of abilities, and the characters of one. */
const maxWords = 100
const maxWordLength = 64
const maxTokenLength = 2_048

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const objectOr = (value: unknown): Json => (isObject(value) ? value : {})

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null)

const title = (value: unknown): string | null => text(value)?.slice(0, maxNameLength) ?? null

const tokens = (...values: ReadonlyArray<unknown>): number | null => {
  for (const value of values) if (typeof value === "number" && Number.isFinite(value) && value > 0) return value
  return null
}

/** The first that says yes or no, plainly or as `{supported}`. */
const yesOrNo = (...values: ReadonlyArray<unknown>): boolean | null => {
  for (const value of values) {
    const said = isObject(value) ? value["supported"] : value
    if (typeof said === "boolean") return said
  }
  return null
}

const words = (value: unknown): ReadonlyArray<string> | null =>
  Array.isArray(value)
    ? value
        .slice(0, maxWords)
        .filter((word) => typeof word === "string" && word.length <= maxWordLength)
        .map((word: string) => word.toLowerCase())
    : null

/** Checks whether one of `names` is in the list; a complete list can also exclude them. */
const named = (
  list: ReadonlyArray<string> | null,
  complete: boolean,
  ...names: ReadonlyArray<string>
): boolean | null => {
  if (list === null) return null
  return list.some((word) => names.includes(word)) ? true : complete ? false : null
}

const modalityOf: ReadonlyMap<string, Modality> = new Map<string, Modality>([
  ["text", "text"],
  ["image", "image"],
  ["images", "image"],
  ["audio", "audio"],
  ["speech", "audio"],
  ["video", "video"],
  ["file", "file"],
  ["pdf", "file"],
  ["document", "file"],
  ["embedding", "embedding"],
  ["embeddings", "embedding"]
])

const modalities = (...lists: ReadonlyArray<unknown>): ReadonlyArray<Modality> | null => {
  for (const list of lists) {
    const known = (words(list) ?? []).flatMap((word) => modalityOf.get(word) ?? [])
    if (known.length > 0) return [...new Set(known)]
  }
  return null
}

/** `text+image->text`: what goes in and what comes out. */
const arrow = (value: unknown, side: 0 | 1): ReadonlyArray<string> | null =>
  typeof value === "string" && value.length <= maxWordLength * 2 && value.includes("->")
    ? (value.split("->")[side] ?? "").split("+")
    : null

const capabilitiesOf = (entry: Json) => {
  const said = objectOr(entry["capabilities"])
  const supports = objectOr(said["supports"])
  // Complete lists: what they leave out, the model cannot do.
  const parameters = words(entry["supported_parameters"])
  const abilities = words(entry["capabilities"])
  // Lists of highlights.
  const features = [
    ...(words(entry["features"]) ?? []),
    ...(words(entry["supported_features"]) ?? []),
    ...(words(objectOr(entry["metadata"])["tags"]) ?? [])
  ]
  return {
    vision:
      yesOrNo(
        said["vision"],
        said["image_input"],
        supports["vision"],
        entry["supports_vision"],
        entry["supportsVision"]
      ) ??
      named(abilities, true, "vision", "image") ??
      named(features, false, "vision"),
    reasoning:
      yesOrNo(
        said["reasoning"],
        said["thinking"],
        entry["thinking"],
        entry["supports_reasoning"],
        entry["supportsReasoning"],
        entry["reasoning"]
      ) ??
      named(parameters, true, "reasoning", "include_reasoning", "reasoning_effort") ??
      named(abilities, true, "thinking", "reasoning") ??
      named(features, false, "reasoning", "thinking"),
    toolCalling:
      yesOrNo(
        said["tool_calling"],
        said["function_calling"],
        said["tools"],
        supports["tool_calls"],
        entry["supports_tools"],
        entry["supports_function_calling"],
        entry["tool_call"]
      ) ??
      named(parameters, true, "tools") ??
      named(abilities, true, "tools", "tool_calling", "function_calling") ??
      named(features, false, "tools", "function-calling", "function_calling", "tool-calling"),
    structuredOutput:
      yesOrNo(
        said["structured_output"],
        said["structured_outputs"],
        supports["structured_outputs"],
        entry["supports_response_schema"]
      ) ??
      named(parameters, true, "structured_outputs") ??
      named(features, false, "structured_outputs", "structured-outputs")
  }
}

const read = (entry: unknown): ListedModel | null => {
  if (typeof entry === "string") return entry.length <= maxIdLength ? { ...unknownFacts, id: entry } : null
  if (!isObject(entry)) return null
  const id = text(entry["id"]) ?? text(entry["model"]) ?? text(entry["name"])
  if (id === null || id.length > maxIdLength) return null
  const bare = id.startsWith("models/") ? id.slice("models/".length) : id
  const top = objectOr(entry["top_provider"])
  const limits = { ...objectOr(entry["limits"]), ...objectOr(objectOr(entry["capabilities"])["limits"]) }
  const metadata = objectOr(entry["metadata"])
  const architecture = objectOr(entry["architecture"])
  const listed = objectOr(entry["modalities"])
  const facts = settleFacts({
    ...unknownFacts,
    name:
      title(entry["display_name"]) ??
      title(entry["displayName"]) ??
      (entry["id"] === undefined ? null : title(entry["name"])),
    contextLength: tokens(
      entry["context_length"],
      entry["context_window"],
      entry["inputTokenLimit"],
      entry["max_model_len"],
      entry["max_context_length"],
      entry["context_size"],
      entry["max_input_tokens"],
      limits["max_context_window_tokens"],
      limits["max_input_tokens"],
      metadata["context_length"],
      top["context_length"]
    ),
    maxOutputTokens: tokens(
      entry["max_output_tokens"],
      entry["outputTokenLimit"],
      entry["max_completion_tokens"],
      // In the lists of the messages wire; elsewhere the word means other things.
      entry["type"] === "model" ? entry["max_tokens"] : null,
      limits["max_output_tokens"],
      top["max_completion_tokens"]
    ),
    inputModalities: modalities(
      architecture["input_modalities"],
      entry["input_modalities"],
      entry["inputModalities"],
      entry["supported_input_modalities"],
      listed["input"],
      arrow(architecture["modality"], 0)
    ),
    outputModalities: modalities(
      architecture["output_modalities"],
      entry["output_modalities"],
      entry["outputModalities"],
      entry["supported_output_modalities"],
      listed["output"],
      arrow(architecture["modality"], 1)
    ),
    ...capabilitiesOf(entry)
  })
  return { ...facts, id: bare }
}

/** The models of an answer, at most `most`; null when the answer is not a model list at all. */
export const readModelList = (body: unknown, most: number = maxModels): ReadonlyArray<ListedModel> | null => {
  const list = Array.isArray(body) ? body : isObject(body) ? (body["data"] ?? body["models"]) : null
  if (!Array.isArray(list)) return null
  const models = new Map<string, ListedModel>()
  for (const entry of list.slice(0, maxLookedAt)) {
    if (models.size >= most) break
    const model = read(entry)
    if (model !== null && !models.has(model.id)) models.set(model.id, model)
  }
  return [...models.values()]
}

/**
 * The query of the page that follows an answer, null when it is the last one: `after_id` where lists of the messages wire have more
 * (https://docs.claude.com/en/api/models-list), `pageToken` of the generative-language wire (https://ai.google.dev/api/models).
 */
export const nextPage = (body: unknown): { readonly name: string; readonly value: string } | null => {
  if (!isObject(body)) return null
  const token = text(body["nextPageToken"])
  if (token !== null) return token.length <= maxTokenLength ? { name: "pageToken", value: token } : null
  const last = body["has_more"] === true ? text(body["last_id"]) : null
  return last !== null && last.length <= maxIdLength ? { name: "after_id", value: last } : null
}

/** `num_ctx 8192` among the lines of a model file's parameters. */
const servedWindow = (parameters: unknown): number | null => {
  if (typeof parameters !== "string") return null
  const line = parameters.slice(0, maxParametersLength).match(/(?:^|\n)[ \t]*num_ctx[ \t]+(\d{1,9})[ \t]*(?:\n|$)/)
  return tokens(Number(line?.[1]))
}

const maxParametersLength = 10_000

/**
 * Reads the description of one model by Ollama (https://docs.ollama.com/api, "Show model information"): the window it is served
 * with where its parameters say so, else the model's own, and its capabilities.
 */
export const readShown = (id: string, body: unknown): ListedModel | null => {
  if (!isObject(body)) return null
  const info = objectOr(body["model_info"])
  const family = text(info["general.architecture"])
  const { reasoning, toolCalling, vision } = capabilitiesOf({ capabilities: body["capabilities"] })
  return {
    ...settleFacts({
      ...unknownFacts,
      contextLength:
        servedWindow(body["parameters"]) ?? tokens(family === null ? null : info[`${family}.context_length`]),
      vision,
      reasoning,
      toolCalling
    }),
    id
  }
}
