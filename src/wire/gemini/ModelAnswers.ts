/**
 * Answers to `GET /v1beta/models` and `GET /v1beta/models/{id}`.
 *
 * https://ai.google.dev/api/models
 */
import { type JsonObject, optional } from "../json/Json.ts"

/** A model of the gateway's catalogue. Null: unknown. */
export interface ListedGeminiModel {
  readonly id: string
  readonly displayName: string
  /** Tokens. */
  readonly contextLength: number | null
  readonly maxOutputTokens: number | null
  readonly thinking: boolean | null
  readonly inputModalities: ReadonlyArray<string> | null
  readonly outputModalities: ReadonlyArray<string> | null
  readonly capabilities: JsonObject | null
}

const generating = ["generateContent", "streamGenerateContent", "countTokens"]
const embedding = ["embedContent", "batchEmbedContents"]

/** `thinking` is a member of the wire; modalities and capabilities are the gateway's own. */
export const modelAnswer = (model: ListedGeminiModel): JsonObject => ({
  name: `models/${model.id}`,
  version: "",
  displayName: model.displayName,
  supportedGenerationMethods: model.outputModalities?.includes("embedding") === true ? embedding : generating,
  ...optional("inputTokenLimit", model.contextLength),
  ...optional("outputTokenLimit", model.maxOutputTokens),
  ...optional("thinking", model.thinking),
  ...optional("inputModalities", model.inputModalities),
  ...optional("outputModalities", model.outputModalities),
  ...optional("capabilities", model.capabilities)
})

/** `nextPageToken` is present only where another page follows. */
export const modelListAnswer = (
  models: ReadonlyArray<ListedGeminiModel>,
  nextPageToken: string | null = null
): JsonObject => ({
  models: models.map(modelAnswer),
  ...optional("nextPageToken", nextPageToken)
})
