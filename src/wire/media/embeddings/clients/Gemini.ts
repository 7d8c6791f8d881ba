/**
 * Gemini's methods for embeddings: `:embedContent` for one content, `:batchEmbedContents` for several.
 *
 * https://ai.google.dev/api/embeddings (read on 2026-11-23)
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../../contract/domain/Errors.ts"
import type { Conversation } from "../../../canonical/Conversation.ts"
import { gemini } from "../../../gemini/Codec.ts"
import { invalidField, mismatch } from "../../../json/FieldReader.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, optional } from "../../../json/Json.ts"
import { isEmbeddedBatch, isEmbeddedContent } from "../../OwnAnswers.ts"
import { envelopeOf, wholeRequest } from "../../WholeRequest.ts"
import type { Envelope, WireCodec } from "../../../WireCodec.ts"
import { peerOfOther } from "../Peers.ts"
import { joined } from "../Splitting.ts"
import { vectorsOf } from "./Vectors.ts"

const contentProblem = (request: Json, path: string): InvalidRequest | null => {
  if (!isObject(request)) return invalidField(path, mismatch(request, "an object"))
  const { content } = request
  const at = path === "" ? "content" : `${path}.content`
  if (!isObject(content)) return invalidField(at, "a content with parts is required")
  const { parts } = content
  if (isObject(parts)) return null
  if (!isArray(parts) || parts.length === 0) return invalidField(`${at}.parts`, "at least one part is required")
  return parts.every(isObject) ? null : invalidField(`${at}.parts`, "expected objects only")
}

/** The text of a content; null when it holds more than texts. */
const textOf = (request: Json): string | null => {
  const { parts } = objectOr(objectOr(request)["content"])
  const texts = (isArray(parts) ? parts : [objectOr(parts)]).map((part) => objectOr(part)["text"])
  return texts.every((text) => typeof text === "string") ? texts.join("\n") : null
}

/** Returns the value that a member has in all requests; undefined where they differ. */
const common = (requests: ReadonlyArray<Json>, member: string): Json | undefined => {
  const first = objectOr(requests[0])[member]
  return requests.every((request) => objectOr(request)[member] === first) ? first : undefined
}

/** The client's requests, of either method. */
const requestsIn = (body: JsonObject, batch: boolean): ReadonlyArray<Json> => {
  const { model: _model, stream: _stream, ...single } = body
  return batch ? (isArray(body["requests"]) ? body["requests"] : []) : [single]
}

const textsOf = (requests: ReadonlyArray<Json>): ReadonlyArray<string> | null => {
  const texts = requests.flatMap((request) => textOf(request) ?? [])
  // Vectors of different lengths or purposes cannot be asked for in one request of another provider.
  const differ = ["outputDimensionality", "taskType"].some(
    (member) => common(requests, member) === undefined && requests.some((each) => objectOr(each)[member] !== undefined)
  )
  return differ || texts.length !== requests.length ? null : texts
}

const checkEnvelope =
  (batch: boolean) =>
  (body: unknown): Either.Either<Envelope, InvalidRequest> => {
    if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
    const { model, requests } = body
    if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
    if (!batch) {
      const wrong = contentProblem(body, "")
      return wrong === null ? Either.right(envelopeOf(model)) : Either.left(wrong)
    }
    if (!isArray(requests) || requests.length === 0) {
      return Either.left(invalidField("requests", "at least one request is required"))
    }
    for (const [index, request] of requests.entries()) {
      const wrong = contentProblem(request, `requests[${index}]`)
      if (wrong !== null) return Either.left(wrong)
    }
    return Either.right(envelopeOf(model))
  }

const codecOf = (batch: boolean, answerOf: WireCodec["encodeResponse"]): WireCodec => {
  const check = checkEnvelope(batch)
  const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
    Either.map(check(body), ({ model }) => {
      const requests = requestsIn(body, batch)
      return wholeRequest(
        {
          input: textsOf(requests) ?? requests,
          ...optional("dimensions", common(requests, "outputDimensionality")),
          ...optional("taskType", common(requests, "taskType")),
          requests
        },
        model
      )
    })
  return {
    ...gemini,
    endpoint: "embeddings",
    upstreamPath: "/models/{model}:batchEmbedContents",
    maxCandidates: 1,
    peer: (wire, body, adapter) => peerOfOther(wire, textsOf(requestsIn(body, batch)), adapter),
    join: joined,
    checkEnvelope: check,
    decodeRequest,
    isOwnAnswer: batch ? isEmbeddedBatch : isEmbeddedContent,
    encodeResponse: answerOf
  }
}

const usageOf = (tokens: number | undefined): JsonObject =>
  tokens === undefined ? {} : { usageMetadata: { promptTokenCount: tokens, totalTokenCount: tokens } }

export const embedContent: WireCodec = codecOf(false, (response) => {
  const [values = []]: ReadonlyArray<Json> = vectorsOf(response)
  return { embedding: { values }, ...usageOf(response.usage?.in) }
})

export const batchEmbedContents: WireCodec = codecOf(true, (response) => ({
  embeddings: vectorsOf(response).map((values): JsonObject => ({ values })),
  ...usageOf(response.usage?.in)
}))
