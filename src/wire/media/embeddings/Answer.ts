/**
 * The answer of an embeddings endpoint. Canonically it is one opaque part in OpenAI's form; each upstream's codec converts to it, and
 * the client's codec applies the requested format.
 *
 * https://developers.openai.com/api/reference/resources/embeddings/methods/create (read in 2026-11)
 */
import * as Either from "effect/Either"
import type { UpstreamProblem } from "../../canonical/Event.ts"
import type { Response, Stop } from "../../canonical/Response.ts"
import { countOr, mergeUsage, type Usage } from "../../canonical/Usage.ts"
import { isArray, isObject, type Json, type JsonObject, objectOr, stringOr } from "../../json/Json.ts"
import { isVector } from "../OwnAnswers.ts"
import { problemOfJson } from "../../UpstreamError.ts"
import type { AnswerFacts, EncodeContext } from "../../WireCodec.ts"
import { inFormat } from "./Vector.ts"

const kind = "embeddings"
const stop: Stop = { reason: "stop", raw: "stop", sequence: null }

/** Description of the answers of one upstream's endpoint. */
export interface AnswerShape {
  /** `{object, index, embedding}` of each input; null when the answer holds none. */
  readonly dataOf: (body: JsonObject) => ReadonlyArray<Json> | null
  /** Tokens of the input; null when not reported. */
  readonly tokensOf: (body: JsonObject) => number | null
  /** Further members for the client. */
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

/** Reads the index of an item; null when it has none. */
const indexOf = (item: Json): number | null => {
  const { index } = objectOr(item)
  return typeof index === "number" && Number.isSafeInteger(index) && index >= 0 ? index : null
}

/** Items by their index, whatever the order they came in. Without an index, and where one is twice, the order is that of the inputs. */
const inOrder = (items: ReadonlyArray<Json>): ReadonlyArray<Json> => {
  const places = items.map(indexOf)
  const isTold = places.every((place) => place !== null) && new Set(places).size === items.length
  const sorted = isTold ? items.toSorted((one, other) => (indexOf(one) ?? 0) - (indexOf(other) ?? 0)) : items
  return sorted.map((item, index): Json => (isObject(item) ? Object.assign({}, item, { index }) : item))
}

const vectorsOf = (response: Response): ReadonlyArray<Json> => {
  const part = response.parts.find((candidate) => candidate.type === "opaque" && candidate.kind === kind)
  const data = part?.type === "opaque" ? part.value["data"] : undefined
  return isArray(data) ? data : []
}

/** Checks whether there is a vector for each of `inputs` inputs. */
export const isComplete = (response: Response, inputs: number): boolean => {
  const vectors = vectorsOf(response)
  return vectors.length === inputs && vectors.every((item) => isVector(objectOr(item)["embedding"]))
}

/** OpenAI's endpoint. */
export const openAiShape: AnswerShape = {
  dataOf: (body) => (isArray(body["data"]) ? inOrder(body["data"]) : null),
  tokensOf: (body) => {
    const usage = objectOr(body["usage"])
    return countOr(usage["prompt_tokens"]) ?? countOr(usage["total_tokens"])
  },
  restOf: ({ data: _data, model: _model, ...rest }) => rest
}

/** https://ai.google.dev/api/embeddings (read on 2026-11-23) */
export const geminiShape: AnswerShape = {
  dataOf: (body) => dataOfVectors(body["embeddings"], (item) => objectOr(item)["values"]),
  tokensOf: (body) => countOr(objectOr(body["usageMetadata"])["promptTokenCount"]),
  restOf: () => ({})
}

/** https://docs.ollama.com/api/embed (read on 2026-11-23) */
export const ollamaShape: AnswerShape = {
  dataOf: (body) => dataOfVectors(body["embeddings"], (item) => item),
  tokensOf: (body) => countOr(body["prompt_eval_count"]),
  restOf: () => ({})
}

/** https://docs.cohere.com/reference/embed (read on 2026-11-23) */
export const cohereShape: AnswerShape = {
  dataOf: (body) => {
    const { embeddings } = body
    return dataOfVectors(isObject(embeddings) ? embeddings["float"] : embeddings, (item) => item)
  },
  tokensOf: (body) => countOr(objectOr(objectOr(body["meta"])["billed_units"])["input_tokens"]),
  restOf: () => ({})
}
