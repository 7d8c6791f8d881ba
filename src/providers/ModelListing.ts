/**
 * Reads the `/models` answers of the known shapes: `data[]` (OpenAI, Anthropic and most others), `models[]` (Gemini, Ollama).
 * Pure; what cannot be read is left out, never guessed.
 */
import { type Modality, settleFacts, unknownFacts } from "./ModelFacts.ts"
import type { ListedModel } from "./ModelLists.ts"

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => typeof value === "object" && value !== null && !Array.isArray(value)

const objectOr = (value: unknown): Json => (isObject(value) ? value : {})

const text = (value: unknown): string | null => (typeof value === "string" && value !== "" ? value : null)

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
  Array.isArray(value) ? value.filter((word) => typeof word === "string").map((word) => word.toLowerCase()) : null

/** Whether one of `names` is among the words; a list that is complete also says no. */
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
  typeof value === "string" && value.includes("->") ? (value.split("->")[side] ?? "").split("+") : null

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
  if (typeof entry === "string") return { ...unknownFacts, id: entry }
  if (!isObject(entry)) return null
  const id = text(entry["id"]) ?? text(entry["model"]) ?? text(entry["name"])
  if (id === null) return null
  const bare = id.startsWith("models/") ? id.slice("models/".length) : id
  const top = objectOr(entry["top_provider"])
  const limits = { ...objectOr(entry["limits"]), ...objectOr(objectOr(entry["capabilities"])["limits"]) }
  const metadata = objectOr(entry["metadata"])
  const architecture = objectOr(entry["architecture"])
  const listed = objectOr(entry["modalities"])
  const facts = settleFacts({
    ...unknownFacts,
    name:
      text(entry["display_name"]) ??
      text(entry["displayName"]) ??
      (entry["id"] === undefined ? null : text(entry["name"])),
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

/** The models of an answer; null when the answer is not a model list at all. */
export const readModelList = (body: unknown): ReadonlyArray<ListedModel> | null => {
  const list = Array.isArray(body) ? body : isObject(body) ? (body["data"] ?? body["models"]) : null
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
