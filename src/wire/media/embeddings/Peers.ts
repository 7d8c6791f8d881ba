/** The codecs that send a request for embeddings to an upstream. */
import type { MediaAdapter } from "../../../contract/domain/MediaKind.ts"
import type { WireName } from "../../../contract/domain/Wire.ts"
import { chat } from "../../chat/Codec.ts"
import { gemini } from "../../gemini/Codec.ts"
import { isArray, type Json } from "../../json/Json.ts"
import { ollama } from "../../ollama/Codec.ts"
import type { WireCodec } from "../../WireCodec.ts"
import {
  cohereShape,
  geminiShape,
  isComplete,
  makeDecodeResponse,
  makeReadAnswer,
  ollamaShape,
  openAiShape,
  type AnswerShape
} from "./Answer.ts"
import type { Conversation } from "../../canonical/Conversation.ts"
import { inputCount, textsOf, tokensOf } from "./Input.ts"
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

/** A request and the texts of its token ids. */
const inTexts: NonNullable<WireCodec["inTexts"]> = {
  tokensOf: ({ extras = {} }) => tokensOf(extras["input"]),
  withTexts: (conversation, texts) => ({
    ...conversation,
    extras: { ...conversation.extras, input: texts },
    bent: [...(conversation.bent ?? []), "input"]
  })
}

/** Gemini's own requests stand for texts that were sent in its own form. */
const answersTo = ({ extras = {} }: Conversation): number => {
  const { input, requests } = extras
  return isArray(requests) ? requests.length : inputCount(input)
}

const reading = (shape: AnswerShape): Pick<WireCodec, "decodeResponse" | "isComplete" | "readAnswer"> => ({
  decodeResponse: makeDecodeResponse(shape),
  isComplete: (response, conversation) => isComplete(response, answersTo(conversation)),
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
  inTexts,
  ...reading(geminiShape)
}

const ollamaEmbeddings: WireCodec = {
  ...ollama,
  endpoint: "embeddings",
  encodeRequest: encodeOllama,
  inTexts,
  ...reading(ollamaShape)
}

const cohere: WireCodec = {
  ...openAi,
  encodeRequest: encodeCohere,
  inTexts,
  partsOf: partsWithin(limits.cohere),
  ...reading(cohereShape)
}

const jina: WireCodec = { ...openAi, encodeRequest: encodeJina, inTexts }
const nvidia: WireCodec = { ...openAi, inTexts }
const voyage: WireCodec = { ...openAi, encodeRequest: encodeVoyage, partsOf: partsWithin(limits.voyage), inTexts }

const ofAdapter = (adapter: MediaAdapter): WireCodec | null => {
  switch (adapter) {
    case "cohere":
      return cohere
    case "voyage":
      return voyage
    case "jina":
      return jina
    case "nvidia":
      return nvidia
    default:
      return null
  }
}

/** Token ids are sent only to endpoints that understand them, others get their texts. The messages wire has no embeddings. */
export const peerOf = (wire: WireName, input: Json | undefined, adapter: MediaAdapter | null): WireCodec | null => {
  if (adapter !== null) return ofAdapter(adapter)
  const isReadable = textsOf(input) !== null || tokensOf(input) !== null
  switch (wire) {
    case "chat":
      return openAi
    case "responses":
      return openAiResponses
    case "gemini":
      return isReadable ? geminiEmbeddings : null
    case "ollama":
      return isReadable ? ollamaEmbeddings : null
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
