/** Embeddings requests: the client's body as it is, and its translation for each wire. */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../contract/domain/Errors.ts"
import type { Conversation } from "../../canonical/Conversation.ts"
import { isArray, type Json, type JsonObject, objectOr, optional } from "../../json/Json.ts"
import { wholeRequest } from "../WholeRequest.ts"
import type { EncodedRequest, EncodeOptions } from "../../WireCodec.ts"
import { checkEnvelope, textsOf } from "./Input.ts"
import { purposeFor } from "./Purpose.ts"

export const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
  Either.map(checkEnvelope(body), ({ model }) => wholeRequest(body, model))

export const encodeOpenAi = ({ extras }: Conversation, { model }: EncodeOptions): EncodedRequest => ({
  body: { model, ...extras },
  dropped: [],
  mapped: []
})

/** Members every endpoint can express; the gateway itself applies the format of the answer. */
const shared = new Set(["input", "dimensions", "encoding_format", "requests"])

const droppedOf = (extras: JsonObject): ReadonlyArray<string> => Object.keys(extras).filter((key) => !shared.has(key))

/**
 * Encodes a request of a client of another spelling with the shared members only: servers of this one refuse members
 * that they do not know.
 */
export const encodeSharedOnly = ({ extras = {} }: Conversation, { model }: EncodeOptions): EncodedRequest => ({
  body: {
    model,
    ...optional("input", extras["input"]),
    ...optional("dimensions", extras["dimensions"]),
    encoding_format: "float"
  },
  dropped: droppedOf(extras),
  mapped: []
})

const geminiRequest =
  (model: string, dimensions: Json | undefined, purpose: string | null) =>
  (text: string): JsonObject => ({
    model: `models/${model}`,
    content: { parts: [{ text }] },
    ...optional("taskType", purpose),
    ...optional("outputDimensionality", dimensions)
  })

/** `batchEmbedContents`: https://ai.google.dev/api/embeddings (read on 2026-11-23). Requests that came in this form go on as they are. */
export const encodeGemini = ({ extras = {} }: Conversation, { model }: EncodeOptions): EncodedRequest => {
  const { requests } = extras
  if (isArray(requests)) {
    const named = requests.map((request): Json => Object.assign({}, objectOr(request), { model: `models/${model}` }))
    return { body: { requests: named }, dropped: [], mapped: [] }
  }
  const { dropped, others, word } = purposeFor("gemini", extras)
  return {
    body: { requests: (textsOf(extras["input"]) ?? []).map(geminiRequest(model, extras["dimensions"], word)) },
    dropped: [...droppedOf(others), ...dropped],
    mapped: []
  }
}

/** Members of Ollama's own endpoint that its users may set. */
const ollamaMembers = ["truncate", "keep_alive", "options"] as const

/** https://docs.ollama.com/api/embed (read on 2026-11-23) */
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
  const { dropped, others, word } = purposeFor("cohere", extras)
  const { dimensions, encoding_format: _format, input, requests: _requests, user: _user, ...own } = others
  return {
    body: {
      input_type: word ?? "search_document",
      ...own,
      model,
      texts: textsOf(input) ?? [],
      embedding_types: ["float"],
      ...optional("output_dimension", dimensions)
    },
    dropped: extras["user"] === undefined ? dropped : ["user", ...dropped],
    mapped: []
  }
}

/** The gateway applies the format of the answer. https://jina.ai/embeddings (read on 2026-11-23) */
export const encodeJina = ({ extras = {} }: Conversation, { model }: EncodeOptions): EncodedRequest => {
  const { dropped, others, word } = purposeFor("jina", extras)
  const { encoding_format: _format, requests: _requests, user: _user, ...own } = others
  return {
    body: { ...own, ...optional("task", word), model },
    dropped: extras["user"] === undefined ? dropped : ["user", ...dropped],
    mapped: []
  }
}

/** https://docs.voyageai.com/reference/embeddings-api (read on 2026-11-23) */
export const encodeVoyage = ({ extras = {} }: Conversation, { model }: EncodeOptions): EncodedRequest => {
  const { dropped, others, word } = purposeFor("voyage", extras)
  const { dimensions, encoding_format: _format, requests: _requests, user: _user, ...own } = others
  return {
    body: { ...own, ...optional("input_type", word), model, ...optional("output_dimension", dimensions) },
    dropped: extras["user"] === undefined ? dropped : ["user", ...dropped],
    mapped: []
  }
}
