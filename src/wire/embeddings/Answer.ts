/**
 * The answer of an embeddings endpoint. On its way through the house it is one opaque part, in the words of the OpenAI-style
 * endpoint; each upstream's codec writes it so, and the client's codec gives it the asked format.
 */
import * as Either from "effect/Either"
import type { UpstreamProblem } from "../canonical/Event.ts"
import type { Response, Stop } from "../canonical/Response.ts"
import { countOr, mergeUsage, type Usage } from "../canonical/Usage.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../json/Json.ts"
import { problemOfJson } from "../UpstreamError.ts"
import type { AnswerFacts, EncodeContext } from "../WireCodec.ts"
import { inFormat } from "./Vector.ts"

const kind = "embeddings"
const stop: Stop = { reason: "stop", raw: "stop", sequence: null }

/** What one upstream's endpoint says, for all of them. */
export interface AnswerShape {
  /** `{object, index, embedding}` of each input; null when the answer holds none. */
  readonly dataOf: (body: JsonObject) => ReadonlyArray<Json> | null
  /** Tokens of the input; null when it does not tell. */
  readonly tokensOf: (body: JsonObject) => number | null
  /** Further members that the client shall see. */
  readonly restOf: (body: JsonObject) => JsonObject
}

/** Vectors in the order of the inputs. */
const dataOfVectors = (vectors: Json | undefined, pick: (item: Json) => Json | undefined) =>
  isArray(vectors)
    ? vectors.map((item, index): JsonObject => ({ object: "embedding", index, embedding: pick(item) }))
    : null

const usageOf = (tokens: number | null): Usage | null => (tokens === null ? null : mergeUsage(null, { in: tokens }))

export const makeReadAnswer =
  (shape: AnswerShape) =>
  (body: JsonObject): AnswerFacts => ({
    usage: usageOf(shape.tokensOf(body)),
    stop: (body["error"] ?? null) === null ? stop : null,
    hasContent: (shape.dataOf(body) ?? []).length > 0,
    textChars: 0,
    toolArgChars: 0,
    reasoningChars: 0
  })

export const makeDecodeResponse =
  (shape: AnswerShape) =>
  (body: JsonObject): Either.Either<Response, UpstreamProblem> => {
    const data = shape.dataOf(body)
    if (data === null) {
      const message = "The upstream's answer holds no embeddings."
      return Either.left(problemOfJson(502, body) ?? { status: 502, message, type: null, code: null })
    }
    return Either.right({
      id: null,
      model: stringOr(body["model"]),
      createdMs: null,
      parts: [{ type: "opaque", wire: "chat", kind, value: { ...shape.restOf(body), data } }],
      stop,
      usage: usageOf(shape.tokensOf(body)),
      logprobs: null
    })
  }

const asked = (format: "float" | "base64", item: Json): Json =>
  isObject(item) && item["embedding"] !== undefined ? { ...item, embedding: inFormat(format, item["embedding"]) } : item

export const encodeResponse = (response: Response, context: EncodeContext): JsonObject => {
  const part = response.parts.find((candidate) => candidate.type === "opaque" && candidate.kind === kind)
  const { data, usage, ...rest } = part?.type === "opaque" ? part.value : {}
  const format = context.request?.["encoding_format"] === "base64" ? "base64" : "float"
  const tokens = response.usage?.in ?? 0
  return {
    ...rest,
    object: "list",
    data: isArray(data) ? data.map((item) => asked(format, item)) : [],
    model: response.model ?? context.model,
    usage: { prompt_tokens: tokens, total_tokens: tokens, ...objectOr(usage) }
  }
}

/** The OpenAI-style endpoint. */
export const openAiShape: AnswerShape = {
  dataOf: (body) => (isArray(body["data"]) ? body["data"] : null),
  tokensOf: (body) => {
    const usage = objectOr(body["usage"])
    return countOr(usage["prompt_tokens"]) ?? countOr(usage["total_tokens"])
  },
  restOf: ({ data: _data, model: _model, ...rest }) => rest
}

export const geminiShape: AnswerShape = {
  dataOf: (body) => dataOfVectors(body["embeddings"], (item) => objectOr(item)["values"]),
  tokensOf: (body) => countOr(objectOr(body["usageMetadata"])["promptTokenCount"]),
  restOf: () => ({})
}

export const ollamaShape: AnswerShape = {
  dataOf: (body) => dataOfVectors(body["embeddings"], (item) => item),
  tokensOf: (body) => countOr(body["prompt_eval_count"]),
  restOf: () => ({})
}
