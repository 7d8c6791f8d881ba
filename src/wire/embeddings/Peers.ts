/** The codecs that send a request for embeddings to an upstream. */
import type { MediaAdapter } from "../../domain/MediaKind.ts"
import type { WireName } from "../../domain/Wire.ts"
import { chat } from "../chat/Codec.ts"
import { gemini } from "../gemini/Codec.ts"
import type { Json } from "../json/Json.ts"
import { ollama } from "../ollama/Codec.ts"
import type { WireCodec } from "../WireCodec.ts"
import {
  cohereShape,
  geminiShape,
  makeDecodeResponse,
  makeReadAnswer,
  ollamaShape,
  openAiShape,
  type AnswerShape
} from "./Answer.ts"
import { textsOf } from "./Input.ts"
import {
  encodeCohere,
  encodeGemini,
  encodeJina,
  encodeOllama,
  encodeOpenAi,
  encodeSharedOnly,
  encodeVoyage
} from "./Request.ts"
import { limits, partsWithin } from "./Splitting.ts"

const reading = (shape: AnswerShape): Pick<WireCodec, "decodeResponse" | "readAnswer"> => ({
  decodeResponse: makeDecodeResponse(shape),
  readAnswer: makeReadAnswer(shape)
})

const openAi: WireCodec = {
  ...chat,
  endpoint: "embeddings",
  encodeRequest: encodeOpenAi,
  partsOf: partsWithin(limits.openAi),
  ...reading(openAiShape)
}

const openAiResponses: WireCodec = { ...openAi, name: "responses" }

const geminiEmbeddings: WireCodec = {
  ...gemini,
  endpoint: "embeddings",
  encodeRequest: encodeGemini,
  partsOf: partsWithin(limits.gemini),
  ...reading(geminiShape)
}

const ollamaEmbeddings: WireCodec = {
  ...ollama,
  endpoint: "embeddings",
  encodeRequest: encodeOllama,
  ...reading(ollamaShape)
}

const cohere: WireCodec = {
  ...openAi,
  encodeRequest: encodeCohere,
  partsOf: partsWithin(limits.cohere),
  ...reading(cohereShape)
}

const jina: WireCodec = { ...openAi, encodeRequest: encodeJina }
const voyage: WireCodec = { ...openAi, encodeRequest: encodeVoyage, partsOf: partsWithin(limits.voyage) }

const ofAdapter = (adapter: MediaAdapter, hasTexts: boolean): WireCodec | null => {
  switch (adapter) {
    case "cohere":
      return hasTexts ? cohere : null
    case "voyage":
      return hasTexts ? voyage : null
    case "jina":
      return jina
    case "nvidia":
      return openAi
    default:
      return null
  }
}

/** Token ids are sent only to endpoints that understand them. The messages wire has no embeddings. */
export const peerOf = (wire: WireName, input: Json | undefined, adapter: MediaAdapter | null): WireCodec | null => {
  const hasTexts = textsOf(input) !== null
  if (adapter !== null) return ofAdapter(adapter, hasTexts)
  switch (wire) {
    case "chat":
      return openAi
    case "responses":
      return openAiResponses
    case "gemini":
      return hasTexts ? geminiEmbeddings : null
    case "ollama":
      return hasTexts ? ollamaEmbeddings : null
    case "messages":
      return null
  }
}

/** The same for a client that asks in another spelling than OpenAI's. `input`: its texts; null when it asks for more than texts. */
export const peerOfOther = (
  wire: WireName,
  input: ReadonlyArray<string> | null,
  adapter: MediaAdapter | null
): WireCodec | null => {
  if (wire === "gemini" && adapter === null) return geminiEmbeddings
  const peer = input === null ? null : peerOf(wire, input, adapter)
  return peer?.encodeRequest === encodeOpenAi ? { ...peer, encodeRequest: encodeSharedOnly } : peer
}
