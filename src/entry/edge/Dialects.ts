/**
 * Reading of requests by each conversation route: the codec, the values in the path, and which requests are answered without a model.
 * Pure; the edge only carries them out.
 */
import type { InferenceRoute } from "../../contract/EdgeRoutes.ts"
import { type InferenceError, InvalidRequest, ModelNotFound } from "../../contract/domain/Errors.ts"
import type { ServiceKind } from "../../contract/domain/MediaKind.ts"
import type { AtOnce } from "../../plane/request/Exchange.ts"
import { codecs } from "../../wire/Codec.ts"
import { completions } from "../../wire/media/completions/Codec.ts"
import { embeddings } from "../../wire/media/embeddings/Codec.ts"
import { cohereEmbed } from "../../wire/media/embeddings/clients/Cohere.ts"
import { batchEmbedContents, embedContent } from "../../wire/media/embeddings/clients/Gemini.ts"
import { ollamaEmbed, ollamaEmbeddings } from "../../wire/media/embeddings/clients/Ollama.ts"
import { imageEdits, imageVariations } from "../../wire/media/imageEdits/Codec.ts"
import { moderations } from "../../wire/media/Moderations.ts"
import { ollamaGenerate } from "../../wire/ollama/Codec.ts"
import { loadAnswer } from "../../wire/ollama/LoadAnswer.ts"
import { findModel, type OfferedModel, showAnswer, shownName } from "../../wire/ollama/ModelAnswers.ts"
import { images } from "../../wire/media/images/Codec.ts"
import type { JsonObject } from "../../wire/json/Json.ts"
import { music } from "../../wire/media/music/Codec.ts"
import { rerank } from "../../wire/media/rerank/Codec.ts"
import { searches } from "../../wire/media/search/Codec.ts"
import { speech } from "../../wire/media/speech/Codec.ts"
import { streamedArray } from "../../wire/StreamedArray.ts"
import { transcriptions, translations } from "../../wire/media/transcriptions/Codec.ts"
import { videos } from "../../wire/media/videos/Codec.ts"
import type { WireCodec } from "../../wire/WireCodec.ts"
import { behindModels, geminiActions, geminiPath, isEmbedding } from "./GeminiPath.ts"

export interface Dialect {
  readonly codec: WireCodec
  readonly fromPath: JsonObject | null
  readonly atOnce: AtOnce | null
}

const plain = (codec: WireCodec, atOnce: AtOnce | null = null): Dialect => ({ codec, fromPath: null, atOnce })

const dialects: Readonly<Record<ServiceKind | "chat" | "completions" | "messages" | "responses", Dialect>> = {
  chat: plain(codecs.chat),
  completions: plain(completions),
  embeddings: plain(embeddings),
  rerank: plain(rerank),
  moderations: plain(moderations),
  speech: plain(speech),
  images: plain(images),
  search: plain(searches),
  transcriptions: plain(transcriptions),
  translations: plain(translations),
  videos: plain(videos),
  music: plain(music),
  imageEdits: plain(imageEdits),
  imageVariations: plain(imageVariations),
  messages: plain(codecs.messages),
  responses: plain(codecs.responses)
}

const counts: AtOnce = () => "count"

const noAction = (): InvalidRequest =>
  new InvalidRequest({
    message: `The path must end in ${geminiActions.map((action) => `:${action}`).join(", ")}.`,
    param: null,
    details: []
  })

const wantsEvents = (query: URLSearchParams): boolean =>
  (query.get("alt") ?? query.get("$alt") ?? "").toLowerCase() === "sse"

const gemini = (rest: string, query: URLSearchParams): Dialect | InferenceError => {
  const path = geminiPath(behindModels(rest))
  if (path === null) return noAction()
  const geminiDialect = (stream: boolean, atOnce: AtOnce | null = null): Dialect => ({
    codec: codecs.gemini,
    fromPath: { model: path.model, stream },
    atOnce
  })
  switch (path.action) {
    case "generateContent":
      return geminiDialect(false)
    case "streamGenerateContent":
      return wantsEvents(query) ? geminiDialect(true) : { ...geminiDialect(true), codec: streamedArray }
    case "countTokens":
      return geminiDialect(false, counts)
    case "embedContent":
      return { ...geminiDialect(false), codec: embedContent }
    case "batchEmbedContents":
      return { ...geminiDialect(false), codec: batchEmbedContents }
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
  /** Rest of the path after the fixed part of the route's. */
  readonly rest: string
  readonly query: () => URLSearchParams
  readonly nowMs: number
  readonly offered: () => ReadonlyArray<OfferedModel>
}

/** A route that takes forms. */
export interface FormRoute {
  /** Names of the parts that are files. */
  readonly files: ReadonlySet<string>
  /** Requests without files may come as JSON. */
  readonly takesJson: boolean
}

const formRoutes: Readonly<Partial<Record<InferenceRoute["key"], FormRoute>>> = {
  "inference.transcriptions": { files: new Set(["file"]), takesJson: false },
  "inference.translations": { files: new Set(["file"]), takesJson: false },
  "inference.imageEdits": { files: new Set(["image", "image[]", "mask"]), takesJson: true },
  "inference.imageVariations": { files: new Set(["image"]), takesJson: false },
  "inference.createVideo": { files: new Set(["input_reference"]), takesJson: true }
}

/** Hot: null where a route takes JSON only. */
export const formOf = ({ key }: InferenceRoute): FormRoute | null => formRoutes[key] ?? null

/**
 * Returns the category that API keys are allowed by; for the routes of one wire that have several kinds behind one
 * path, the kind that is asked for.
 */
export const categoryOf = (route: InferenceRoute, rest: string): InferenceRoute["category"] =>
  route.key === "inference.gemini" && isEmbedding(geminiPath(behindModels(rest))?.action ?? null)
    ? "embeddings"
    : route.category

/** Finds the dialect of an inference route; an error where its path names something that does not exist. */
export const dialectOf = (route: InferenceRoute, facts: DialectFacts): Dialect | InferenceError => {
  switch (route.key) {
    case "inference.chat":
      return dialects.chat
    case "inference.completions":
      return dialects.completions
    case "inference.embeddings":
      return dialects.embeddings
    case "inference.cohereEmbed":
      return plain(cohereEmbed)
    case "inference.ollamaEmbed":
      return plain(ollamaEmbed)
    case "inference.ollamaEmbeddings":
      return plain(ollamaEmbeddings)
    case "inference.rerank":
      return dialects.rerank
    case "inference.moderations":
      return dialects.moderations
    case "inference.speech":
      return dialects.speech
    case "inference.images":
      return dialects.images
    case "inference.search":
      return dialects.search
    case "inference.transcriptions":
      return dialects.transcriptions
    case "inference.translations":
      return dialects.translations
    case "inference.videos":
    case "inference.createVideo":
      return dialects.videos
    case "inference.music":
      return dialects.music
    case "inference.imageEdits":
      return dialects.imageEdits
    case "inference.imageVariations":
      return dialects.imageVariations
    case "inference.messages":
      return dialects.messages
    case "inference.responses":
      return dialects.responses
    case "inference.countTokens":
      return plain(codecs.messages, counts)
    case "inference.countResponseTokens":
      return plain(codecs.responses, counts)
    case "inference.gemini":
      return gemini(facts.rest, facts.query())
    case "inference.ollamaChat":
      return plain(codecs.ollama, (body) => loadAnswer("chat", body, facts.nowMs))
    case "inference.ollamaGenerate":
      return plain(ollamaGenerate, (body) => loadAnswer("generate", body, facts.nowMs))
    case "inference.ollamaShow":
      return plain(codecs.ollama, shown(facts.offered))
  }
}
