/**
 * `/v1/embeddings`, as a variant of the chat wire's codec. The upstream's answer is always rewritten, because clients need the format
 * they requested and not every upstream respects it.
 *
 * https://developers.openai.com/api/reference/resources/embeddings/methods/create
 */
import type { MediaAdapter } from "../../domain/MediaKind.ts"
import { chat } from "../chat/Codec.ts"
import { gemini } from "../gemini/Codec.ts"
import type { JsonObject } from "../json/Json.ts"
import { ollama } from "../ollama/Codec.ts"
import type { WireCodec } from "../WireCodec.ts"
import {
  cohereShape,
  encodeResponse,
  geminiShape,
  makeDecodeResponse,
  makeReadAnswer,
  ollamaShape,
  openAiShape
} from "./Answer.ts"
import { checkEnvelope, textsOf } from "./Input.ts"
import {
  decodeRequest,
  encodeCohere,
  encodeGemini,
  encodeJina,
  encodeOllama,
  encodeOpenAi,
  encodeVoyage
} from "./Request.ts"

const openAi: WireCodec = {
  ...chat,
  endpoint: "embeddings",
  encodeRequest: encodeOpenAi,
  decodeResponse: makeDecodeResponse(openAiShape),
  readAnswer: makeReadAnswer(openAiShape)
}

const openAiResponses: WireCodec = { ...openAi, name: "responses" }

const geminiEmbeddings: WireCodec = {
  ...gemini,
  endpoint: "embeddings",
  encodeRequest: encodeGemini,
  decodeResponse: makeDecodeResponse(geminiShape),
  readAnswer: makeReadAnswer(geminiShape)
}

const ollamaEmbeddings: WireCodec = {
  ...ollama,
  endpoint: "embeddings",
  encodeRequest: encodeOllama,
  decodeResponse: makeDecodeResponse(ollamaShape),
  readAnswer: makeReadAnswer(ollamaShape)
}

const cohere: WireCodec = {
  ...openAi,
  encodeRequest: encodeCohere,
  decodeResponse: makeDecodeResponse(cohereShape),
  readAnswer: makeReadAnswer(cohereShape)
}

const jina: WireCodec = { ...openAi, encodeRequest: encodeJina }
const voyage: WireCodec = { ...openAi, encodeRequest: encodeVoyage }

/** Token ids are sent only to endpoints that understand them. The messages wire has no embeddings. */
const peer: WireCodec["peer"] = (wire, body: JsonObject, adapter) => {
  if (adapter !== null) return ofAdapter(adapter, body)
  switch (wire) {
    case "chat":
      return openAi
    case "responses":
      return openAiResponses
    case "gemini":
      return textsOf(body["input"]) === null ? null : geminiEmbeddings
    case "ollama":
      return textsOf(body["input"]) === null ? null : ollamaEmbeddings
    case "messages":
      return null
  }
}

const ofAdapter = (adapter: MediaAdapter, body: JsonObject): WireCodec | null => {
  switch (adapter) {
    case "cohere":
      return textsOf(body["input"]) === null ? null : cohere
    case "voyage":
      return textsOf(body["input"]) === null ? null : voyage
    case "jina":
      return jina
    case "nvidia":
      return openAi
    case "elevenlabs":
    case "deepgram":
      return null
  }
}

/** The client's side. */
export const embeddings: WireCodec = {
  ...chat,
  endpoint: "embeddings",
  upstreamPath: "/embeddings",
  maxCandidates: 1,
  peer,
  checkEnvelope,
  decodeRequest,
  encodeResponse
}
