/**
 * Cohere's endpoint for embeddings. At Cohere the request goes through as it is, with images and all types of embeddings.
 *
 * https://docs.cohere.com/reference/embed (read on 2026-11-23)
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../../contract/domain/Errors.ts"
import type { Conversation } from "../../../canonical/Conversation.ts"
import { chat } from "../../../chat/Codec.ts"
import { renderError } from "../../../chat/Errors.ts"
import { optionalFieldProblem } from "../../../Envelope.ts"
import { invalidField, mismatch } from "../../../json/FieldReader.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, optional } from "../../../json/Json.ts"
import { isCohereEmbeddings } from "../../OwnAnswers.ts"
import { envelopeOf, wholeRequest } from "../../WholeRequest.ts"
import type { Envelope, WireCodec } from "../../../WireCodec.ts"
import { cohereShape, makeReadAnswer } from "../Answer.ts"
import { textsOf } from "../Input.ts"
import { peerOfOther } from "../Peers.ts"
import { encodeCohere } from "../Request.ts"
import { joined } from "../Splitting.ts"
import { vectorsOf } from "./Vectors.ts"

/** Cohere's own clients read `message`. */
export const cohereError: WireCodec["renderError"] = (view, requestId) => ({
  message: view.message,
  ...renderError(view, requestId)
})

/** The text of an input of several parts; null when it holds more than text. */
const textOfInput = (input: Json): string | null => {
  const { content } = objectOr(input)
  const texts = isArray(content) ? content.map((part) => objectOr(part)["text"]) : [null]
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : null
}

const inputTexts = ({ images, inputs, texts }: JsonObject): ReadonlyArray<string> | null => {
  if (isArray(images) && images.length > 0) return null
  if (!isArray(inputs)) return isArray(texts) ? textsOf(texts) : null
  const each = inputs.flatMap((input) => textOfInput(input) ?? [])
  return each.length === inputs.length && each.length > 0 ? each : null
}

const typesOf = (body: JsonObject): ReadonlyArray<Json> => {
  const types = body["embedding_types"]
  return isArray(types) && types.length > 0 ? types : ["float"]
}

/** Types that can be made of numbers; the others only Cohere has. */
const isUsual = (type: Json): boolean => type === "float" || type === "base64"

const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const { images, inputs, model, texts } = body
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  if (![texts, images, inputs].some((list) => isArray(list) && list.length > 0)) {
    return Either.left(invalidField("texts", "texts, images or inputs are required"))
  }
  if (texts !== undefined && texts !== null && textsOf(isArray(texts) ? texts : null) === null) {
    return Either.left(invalidField("texts", mismatch(texts, "an array of strings")))
  }
  const wrong = optionalFieldProblem(body, { output_dimension: "positive" })
  return wrong === null ? Either.right(envelopeOf(model)) : Either.left(wrong)
}

const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
  Either.map(checkEnvelope(body), ({ model }) => {
    const {
      embedding_types: _types,
      images: _images,
      inputs: _inputs,
      output_dimension,
      texts: _texts,
      ...others
    } = body
    return wholeRequest(
      { ...others, input: inputTexts(body) ?? [], ...optional("dimensions", output_dimension) },
      model
    )
  })

const hasVectors = (embeddings: Json | undefined): boolean =>
  isObject(embeddings)
    ? Object.values(embeddings).some((list) => isArray(list) && list.length > 0)
    : isArray(embeddings) && embeddings.length > 0

const readAnswer = makeReadAnswer(cohereShape)

export const cohereEmbed: WireCodec = {
  ...chat,
  endpoint: "embeddings",
  upstreamPath: "/embed",
  maxCandidates: 1,
  peer: (wire, body, adapter) => {
    if (adapter === "cohere") return cohereEmbed
    return typesOf(body).every(isUsual) ? peerOfOther(wire, inputTexts(body), adapter) : null
  },
  join: joined,
  checkEnvelope,
  decodeRequest,
  encodeRequest: encodeCohere,
  isOwnAnswer: isCohereEmbeddings,
  readAnswer: (body) => ({ ...readAnswer(body), hasContent: hasVectors(body["embeddings"]) }),
  encodeResponse: (response, { fallbackId, request = {} }) => {
    const embeddings = Object.fromEntries(
      typesOf(request).map((type) => {
        const name = type === "base64" ? "base64" : "float"
        return [name, vectorsOf(response, name)]
      })
    )
    return {
      id: response.id ?? fallbackId,
      embeddings,
      texts: inputTexts(request) ?? [],
      meta: { api_version: { version: "2" }, billed_units: { input_tokens: response.usage?.in ?? 0 } },
      response_type: "embeddings_by_type"
    }
  },
  renderError: cohereError
}
