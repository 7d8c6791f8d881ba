/**
 * Ollama's endpoints for embeddings: the present one, and the older one for a single text.
 *
 * https://docs.ollama.com/api/embed (read on 2026-11-23)
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../../contract/domain/Errors.ts"
import type { Conversation } from "../../../canonical/Conversation.ts"
import { optionalFieldProblem } from "../../../Envelope.ts"
import { invalidField, mismatch } from "../../../json/FieldReader.ts"
import { isObject, type Json, type JsonObject } from "../../../json/Json.ts"
import { isOllamaEmbedding, isOllamaEmbeddings } from "../../OwnAnswers.ts"
import { envelopeOf, wholeRequest } from "../../WholeRequest.ts"
import { ollama } from "../../../ollama/Codec.ts"
import type { Envelope, WireCodec } from "../../../WireCodec.ts"
import { textsOf } from "../Input.ts"
import { peerOfOther } from "../Peers.ts"
import { joined } from "../Splitting.ts"
import { vectorsOf } from "./Vectors.ts"

const nanosecondsPerMs = 1_000_000

type Field = "input" | "prompt"

const checkEnvelope =
  (field: Field) =>
  (body: unknown): Either.Either<Envelope, InvalidRequest> => {
    if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
    const { model } = body
    if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model name is required"))
    const input = body[field]
    if (input === undefined || input === null) return Either.left(invalidField(field, "a text is required"))
    if (field === "prompt" ? typeof input !== "string" : textsOf(input) === null) {
      return Either.left(invalidField(field, mismatch(input, field === "prompt" ? "a string" : "a string or strings")))
    }
    const wrong = optionalFieldProblem(body, { dimensions: "positive", truncate: "boolean" })
    return wrong === null ? Either.right(envelopeOf(model)) : Either.left(wrong)
  }

const codecOf = (field: Field, answerOf: WireCodec["encodeResponse"]): WireCodec => {
  const check = checkEnvelope(field)
  const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
    Either.map(check(body), ({ model }) => {
      const { [field]: input, ...others } = body
      return wholeRequest({ ...others, input: textsOf(input) ?? [] }, model)
    })
  return {
    ...ollama,
    endpoint: "embeddings",
    upstreamPath: "/api/embed",
    maxCandidates: 1,
    peer: (wire, body, adapter) => peerOfOther(wire, textsOf(body[field]), adapter),
    join: joined,
    checkEnvelope: check,
    decodeRequest,
    isOwnAnswer: field === "prompt" ? isOllamaEmbedding : isOllamaEmbeddings,
    encodeResponse: answerOf
  }
}

export const ollamaEmbed: WireCodec = codecOf("input", (response, context) => {
  const totalMs = context.elapsedMs?.()
  return {
    model: response.model ?? context.model,
    embeddings: vectorsOf(response),
    ...(totalMs === undefined ? {} : { total_duration: totalMs * nanosecondsPerMs, load_duration: 0 }),
    prompt_eval_count: response.usage?.in ?? 0
  }
})

export const ollamaEmbeddings: WireCodec = codecOf("prompt", (response) => {
  const [first = []]: ReadonlyArray<Json> = vectorsOf(response)
  return { embedding: first }
})
