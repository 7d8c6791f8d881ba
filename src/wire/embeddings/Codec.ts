/**
 * `/v1/embeddings`: an endpoint beside the conversation's, in the chat wire's clothes. Whatever the upstream answers is written anew,
 * because clients insist on the format they asked for and not every upstream keeps to it.
 */
import { chat } from "../chat/Codec.ts"
import { gemini } from "../gemini/Codec.ts"
import type { JsonObject } from "../json/Json.ts"
import { ollama } from "../ollama/Codec.ts"
import type { WireCodec } from "../WireCodec.ts"
import { encodeResponse, geminiShape, makeDecodeResponse, makeReadAnswer, ollamaShape, openAiShape } from "./Answer.ts"
import { checkEnvelope, textsOf } from "./Input.ts"
import { decodeRequest, encodeGemini, encodeOllama, encodeOpenAi } from "./Request.ts"

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

/** Token ids are sent only where they mean something. The messages wire has no embeddings. */
const peer: WireCodec["peer"] = (wire, body: JsonObject) => {
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

/** The client's side. */
export const embeddings: WireCodec = {
  ...chat,
  upstreamPath: "/embeddings",
  maxCandidates: 1,
  peer,
  checkEnvelope,
  decodeRequest,
  encodeResponse
}
