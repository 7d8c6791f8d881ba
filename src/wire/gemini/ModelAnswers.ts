/** What clients of this wire ask about models (`GET /v1beta/models`, `GET /v1beta/models/{id}`). */
import { type JsonObject, optional } from "../json/Json.ts"

/** A model as the gateway's catalogue knows it. Null: not known. */
export interface ListedGeminiModel {
  readonly id: string
  readonly displayName: string
  /** Tokens. */
  readonly contextLength: number | null
  readonly maxOutputTokens: number | null
}

const methods = ["generateContent", "streamGenerateContent", "countTokens"]

export const modelAnswer = (model: ListedGeminiModel): JsonObject => ({
  name: `models/${model.id}`,
  version: "",
  displayName: model.displayName,
  supportedGenerationMethods: methods,
  ...optional("inputTokenLimit", model.contextLength),
  ...optional("outputTokenLimit", model.maxOutputTokens)
})

export const modelListAnswer = (models: ReadonlyArray<ListedGeminiModel>): JsonObject => ({
  models: models.map(modelAnswer)
})
