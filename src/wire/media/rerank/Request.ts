/**
 * Requests to order documents by how well they answer a query. The gateway's own form is that of Cohere and Jina; a document is a text or
 * `{text}`.
 *
 * https://docs.cohere.com/reference/rerank, https://jina.ai/reranker, https://docs.voyageai.com/reference/reranker-api,
 * https://docs.api.nvidia.com/nim/reference/nvidia-llama-3_2-nv-rerankqa-1b-v2-infer (read on 2026-11-23)
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../contract/domain/Errors.ts"
import { noTokens } from "../../../contract/domain/Usage.ts"
import type { Conversation } from "../../canonical/Conversation.ts"
import type { Usage } from "../../canonical/Usage.ts"
import { optionalFieldProblem } from "../../Envelope.ts"
import { invalidField, mismatch } from "../../json/FieldReader.ts"
import { isArray, isObject, type Json, type JsonObject, optional } from "../../json/Json.ts"
import { envelopeOf, wholeRequest } from "../WholeRequest.ts"
import type { EncodedRequest, EncodeOptions, Envelope } from "../../WireCodec.ts"

/** No provider takes more in one request. */
const mostDocuments = 10_000

/** The text of a document; null when it has none. */
export const documentText = (document: Json | undefined): string | null => {
  const text = isObject(document) ? document["text"] : document
  return typeof text === "string" && text !== "" ? text : null
}

const documentsProblem = (documents: Json | undefined): InvalidRequest | null => {
  if (documents === undefined || documents === null) return invalidField("documents", "documents are required")
  if (!isArray(documents)) return invalidField("documents", mismatch(documents, "an array"))
  if (documents.length === 0) return invalidField("documents", "at least one document is required")
  if (documents.length > mostDocuments) return invalidField("documents", `at most ${mostDocuments} documents`)
  const wrong = documents.findIndex((document) => documentText(document) === null)
  return wrong < 0 ? null : invalidField(`documents[${wrong}]`, "expected a text or an object with a 'text'")
}

export const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const { documents, model, query } = body
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  if (typeof query !== "string" || query === "") return Either.left(invalidField("query", "a query is required"))
  const wrong =
    documentsProblem(documents) ?? optionalFieldProblem(body, { top_n: "positive", return_documents: "boolean" })
  return wrong === null ? Either.right(envelopeOf(model)) : Either.left(wrong)
}

export const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
  Either.map(checkEnvelope(body), ({ model }) => wholeRequest(body, model))

const textsOf = (extras: JsonObject): ReadonlyArray<string> => {
  const { documents } = extras
  return isArray(documents) ? documents.map((document) => documentText(document) ?? "") : []
}

/** A unit is a query with up to 100 documents (https://cohere.com/pricing). */
const documentsPerUnit = 100

export const usageOf = ({ documents }: JsonObject): Usage => ({
  ...noTokens,
  units: { searchUnits: isArray(documents) ? Math.ceil(documents.length / documentsPerUnit) : 0 }
})

/** Members of the gateway's own form. Documents are never asked back: the gateway has them. */
const known = new Set(["query", "documents", "top_n", "return_documents"])

const othersOf = (extras: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(extras).filter(([name]) => !known.has(name)))

type Encode = (conversation: Conversation, options: EncodeOptions) => EncodedRequest

/** Cohere, Jina, and what follows them. Members of their own go through. */
export const encodeUsual: Encode = ({ extras = {} }, { model }) => ({
  body: {
    ...othersOf(extras),
    model,
    query: extras["query"] ?? "",
    documents: textsOf(extras),
    ...optional("top_n", extras["top_n"])
  },
  dropped: [],
  mapped: []
})

export const encodeVoyage: Encode = ({ extras = {} }, { model }) => ({
  body: {
    ...othersOf(extras),
    model,
    query: extras["query"] ?? "",
    documents: textsOf(extras),
    ...optional("top_k", extras["top_n"])
  },
  dropped: [],
  mapped: []
})

/** Encodes a request for NVIDIA, which knows no limit of results: the gateway cuts them off. */
export const encodeNvidia: Encode = ({ extras = {} }, { model }) => ({
  body: {
    ...optional("truncate", extras["truncate"]),
    model,
    query: { text: extras["query"] ?? "" },
    passages: textsOf(extras).map((text) => ({ text }))
  },
  dropped: Object.keys(othersOf(extras)).filter((name) => name !== "truncate"),
  mapped: []
})
