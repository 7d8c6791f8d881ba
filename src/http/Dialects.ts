/**
 * How each conversation route reads its requests: which codec, what the path tells, and which requests are answered without a model.
 * Pure; the edge only carries them out.
 */
import * as Either from "effect/Either"
import type { InferenceRoute } from "../api/EdgeRoutes.ts"
import { type InferenceError, InvalidRequest, ModelNotFound } from "../domain/Errors.ts"
import type { AtOnce } from "../inference/Exchange.ts"
import { countTokens } from "../inference/TokenCount.ts"
import type { NormalPath } from "../kernel/NormalPath.ts"
import { codecs } from "../wire/Codec.ts"
import { ollamaGenerate } from "../wire/ollama/Codec.ts"
import { loadAnswer } from "../wire/ollama/LoadAnswer.ts"
import { findModel, type OfferedModel, showAnswer, shownName } from "../wire/ollama/ModelAnswers.ts"
import { type JsonObject, objectOr } from "../wire/json/Json.ts"
import type { WireCodec } from "../wire/WireCodec.ts"
import { geminiPath } from "./GeminiPath.ts"

export interface Dialect {
  readonly codec: WireCodec
  readonly fromPath: JsonObject | null
  readonly atOnce: AtOnce | null
}

const plain = (codec: WireCodec, atOnce: AtOnce | null = null): Dialect => ({ codec, fromPath: null, atOnce })

const dialects: Readonly<Record<"chat" | "messages" | "responses", Dialect>> = {
  chat: plain(codecs.chat),
  messages: plain(codecs.messages),
  responses: plain(codecs.responses)
}

// A request to be counted has no limit on its answer.
const counted = plain(codecs.messages, (body) =>
  Either.merge(
    Either.map(countTokens(codecs.messages, { max_tokens: 1, ...body }), (tokens): JsonObject => ({
      input_tokens: tokens
    }))
  )
)

const geminiCounted: AtOnce = (body) => {
  // The request may stand whole inside `generateContentRequest`.
  const request = { ...body, ...objectOr(body["generateContentRequest"]) }
  return Either.merge(
    Either.map(countTokens(codecs.gemini, request), (tokens): JsonObject => ({ totalTokens: tokens }))
  )
}

const noAction = (): InvalidRequest =>
  new InvalidRequest({
    message: "The path must end in :generateContent, :streamGenerateContent or :countTokens.",
    param: null,
    details: []
  })

const gemini = (segments: NormalPath): Dialect | InferenceError => {
  const path = geminiPath(segments)
  if (path === null) return noAction()
  const told = (stream: boolean, atOnce: AtOnce | null = null): Dialect => ({
    codec: codecs.gemini,
    fromPath: { model: path.model, stream },
    atOnce
  })
  switch (path.action) {
    case "generateContent":
      return told(false)
    case "streamGenerateContent":
      return told(true)
    case "countTokens":
      return told(false, geminiCounted)
    default:
      return noAction()
  }
}

const shown =
  (offered: () => ReadonlyArray<OfferedModel>): AtOnce =>
  (body) => {
    const name = shownName(body)
    if (name === null)
      return new InvalidRequest({ message: "model: a model name is required", param: "model", details: [] })
    const model = findModel(offered(), name)
    return model === null
      ? new ModelNotFound({ model: name, reason: "it is not on the list of models", suggestions: [] })
      : showAnswer(model)
  }

export interface DialectFacts {
  /** The normalised path of the request. */
  readonly segments: () => NormalPath
  readonly nowMs: number
  readonly offered: () => ReadonlyArray<OfferedModel>
}

export const dialectOf = (route: InferenceRoute, facts: DialectFacts): Dialect | InferenceError => {
  switch (route.key) {
    case "inference.chat":
      return dialects.chat
    case "inference.messages":
      return dialects.messages
    case "inference.responses":
      return dialects.responses
    case "inference.countTokens":
      return counted
    case "inference.gemini":
      return gemini(facts.segments())
    case "inference.ollamaChat":
      return plain(codecs.ollama, (body) => loadAnswer("chat", body, facts.nowMs))
    case "inference.ollamaGenerate":
      return plain(ollamaGenerate, (body) => loadAnswer("generate", body, facts.nowMs))
    case "inference.ollamaShow":
      return plain(codecs.ollama, shown(facts.offered))
  }
}
