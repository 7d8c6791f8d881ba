/** Embeddings requests: the client's body as it is, and its translation for each wire. */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../domain/Errors.ts"
import type { Conversation } from "../canonical/Conversation.ts"
import { type Json, type JsonObject, objectOr, optional } from "../json/Json.ts"
import { wholeRequest } from "../media/WholeRequest.ts"
import type { EncodedRequest, EncodeOptions } from "../WireCodec.ts"
import { checkEnvelope, textsOf } from "./Input.ts"

export const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
  Either.map(checkEnvelope(body), ({ model }) => wholeRequest(body, model))

export const encodeOpenAi = ({ extras }: Conversation, { model }: EncodeOptions): EncodedRequest => ({
  body: { model, ...extras },
  dropped: [],
  mapped: []
})

/** Members every endpoint can express; the gateway itself applies the format of the answer. */
const shared = new Set(["input", "dimensions", "encoding_format"])

const droppedOf = (extras: JsonObject): ReadonlyArray<string> => Object.keys(extras).filter((key) => !shared.has(key))

const geminiRequest =
  (model: string, dimensions: Json | undefined) =>
  (text: string): JsonObject => ({
    model: `models/${model}`,
    content: { parts: [{ text }] },
    ...optional("outputDimensionality", dimensions)
  })

/** `batchEmbedContents`: https://ai.google.dev/api/embeddings */
export const encodeGemini = ({ extras }: Conversation, { model }: EncodeOptions): EncodedRequest => ({
  body: {
    requests: (textsOf(extras["input"]) ?? []).map(geminiRequest(model, extras["dimensions"]))
  },
  dropped: droppedOf(extras),
  mapped: []
})

/** Members of Ollama's own endpoint that its users may set. */
const ollamaMembers = ["truncate", "keep_alive", "options"] as const

/** https://docs.ollama.com/api/embed */
export const encodeOllama = ({ extras }: Conversation, { model }: EncodeOptions): EncodedRequest => {
  const own = Object.fromEntries(
    ollamaMembers.flatMap((key) => (extras[key] === undefined ? [] : [[key, extras[key]]]))
  )
  return {
    body: {
      model,
      input: textsOf(extras["input"]) ?? [],
      ...optional("dimensions", extras["dimensions"]),
      ...objectOr(own)
    },
    dropped: droppedOf(extras).filter((key) => !Object.hasOwn(own, key)),
    mapped: []
  }
}

/**
 * Texts only, with a purpose that defaults to that of stored documents; the answer is always asked for as numbers.
 *
 * https://docs.cohere.com/reference/embed (read on 2026-11-23)
 */
export const encodeCohere = ({ extras = {} }: Conversation, { model }: EncodeOptions): EncodedRequest => {
  const { dimensions, encoding_format: _format, input, user: _user, ...others } = extras
  return {
    body: {
      input_type: "search_document",
      ...others,
      model,
      texts: textsOf(input) ?? [],
      embedding_types: ["float"],
      ...optional("output_dimension", dimensions)
    },
    dropped: extras["user"] === undefined ? [] : ["user"],
    mapped: []
  }
}

/** The gateway applies the format of the answer. https://jina.ai/embeddings (read on 2026-11-23) */
export const encodeJina = ({ extras = {} }: Conversation, { model }: EncodeOptions): EncodedRequest => {
  const { encoding_format: _format, user: _user, ...others } = extras
  return { body: { ...others, model }, dropped: extras["user"] === undefined ? [] : ["user"], mapped: [] }
}

/** https://docs.voyageai.com/reference/embeddings-api (read on 2026-11-23) */
export const encodeVoyage = ({ extras = {} }: Conversation, { model }: EncodeOptions): EncodedRequest => {
  const { dimensions, encoding_format: _format, user: _user, ...others } = extras
  return {
    body: { ...others, model, ...optional("output_dimension", dimensions) },
    dropped: extras["user"] === undefined ? [] : ["user"],
    mapped: []
  }
}
