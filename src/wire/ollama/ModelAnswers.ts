/**
 * Answers to the model endpoints of this wire, from the gateway's list of models.
 *
 * https://docs.ollama.com/api/tags
 */
import { type JsonObject, stringOr } from "../json/Json.ts"
import { fingerprint } from "./Fingerprint.ts"
import { toTimestamp } from "./Timestamp.ts"

/** A model of the gateway's catalogue. Null: unknown. */
export interface OfferedModel {
  readonly id: string
  /** The provider or combo behind it. */
  readonly owner: string
  readonly createdMs: number
  /** Tokens. */
  readonly contextLength: number | null
  readonly vision: boolean | null
  readonly reasoning: boolean | null
  readonly toolCalling: boolean | null
}

/**
 * The Ollama version whose API is implemented, not the gateway's own version: clients compare it with the version they need (tool calls,
 * thinking, the responses route) and refuse older ones.
 */
const apiLevel = "0.13.5"

const neverExpires = "9999-12-31T23:59:59Z"

/** Clients show its first 12 digits and use it as the identity of a model, so it is derived from the name. */
const digestOf = (id: string): string => ["1", "2", "3", "4"].map((part) => fingerprint(part + id)).join("")

const detailsOf = (model: OfferedModel): JsonObject => ({
  parent_model: "",
  format: "",
  family: model.owner,
  families: [model.owner],
  parameter_size: "",
  quantization_level: ""
})

const summaryOf = (model: OfferedModel): JsonObject => ({
  name: model.id,
  model: model.id,
  size: 0,
  digest: digestOf(model.id),
  details: detailsOf(model)
})

/** Tools are assumed unless known otherwise; vision and thinking only when known. */
const capabilitiesOf = (model: OfferedModel): ReadonlyArray<string> => [
  "completion",
  ...(model.toolCalling === false ? [] : ["tools"]),
  ...(model.vision === true ? ["vision"] : []),
  ...(model.reasoning === true ? ["thinking"] : [])
]

/** `GET /api/version`. */
export const versionAnswer = (): JsonObject => ({ version: apiLevel })

/** `GET /api/tags`. */
export const tagsAnswer = (models: ReadonlyArray<OfferedModel>): JsonObject => ({
  models: models.map((model) =>
    Object.assign({ modified_at: toTimestamp(model.createdMs), capabilities: capabilitiesOf(model) }, summaryOf(model))
  )
})

/** `GET /api/ps`: loaded models, here all of them. */
export const psAnswer = (models: ReadonlyArray<OfferedModel>): JsonObject => ({
  models: models.map((model) =>
    Object.assign(
      { expires_at: neverExpires, size_vram: 0, context_length: model.contextLength ?? 0 },
      summaryOf(model)
    )
  )
})

/** The model in a body of `POST /api/show`; null when there is none. `name` is the older member. */
export const shownName = (body: JsonObject): string | null => stringOr(body["model"]) || stringOr(body["name"]) || null

const defaultTag = ":latest"

/** A model by its name; clients may add or leave out the default tag, and leave out the provider. */
export const findModel = (models: ReadonlyArray<OfferedModel>, name: string): OfferedModel | null => {
  const other = name.endsWith(defaultTag) ? name.slice(0, -defaultTag.length) : name + defaultTag
  const named = (wanted: string) => models.find(({ id }) => id === wanted)
  const bare = (wanted: string) => models.find(({ id, owner }) => id === `${owner}/${wanted}`)
  return named(name) ?? named(other) ?? bare(name) ?? bare(other) ?? null
}

/** `POST /api/show`. */
export const showAnswer = (model: OfferedModel): JsonObject => ({
  modelfile: "",
  parameters: "",
  template: "",
  details: detailsOf(model),
  model_info: {
    "general.architecture": model.owner,
    "general.basename": model.id,
    ...(model.contextLength === null ? {} : { [`${model.owner}.context_length`]: model.contextLength })
  },
  capabilities: capabilitiesOf(model),
  modified_at: toTimestamp(model.createdMs)
})
