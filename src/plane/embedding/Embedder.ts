/**
 * Texts as vectors, for the gateway's own use: asked for by a request in the caller's name, with its checks, limits, usage row and cost. A model that
 * the caller's key may not use, and limits that are used up, are failures like any other.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import { makeLane } from "../../kernel/Lane.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { embeddings } from "../../wire/media/embeddings/Codec.ts"
import { isArray, isObject, parseJson, stringOr } from "../../wire/json/Json.ts"
import { InnerRequests } from "../InnerRequests.ts"

/** Path shown in the log line of such a request. */
export const embeddingPath = "/own-embeddings"

/** Most texts of one request. */
export const maxTexts = 256
/** Most characters of one text: a longer one is not embedded, because the cut part would not count. */
export const maxTextChars = 8_000
/** No model has longer vectors; longer answers are not kept in memory. */
const maxDimensions = 16_384
/** Requests in progress in all; further ones wait, within their time. */
const atOnceInAll = 32

export interface EmbedderRequest {
  readonly principal: Principal
  readonly model: string
  readonly texts: ReadonlyArray<string>
  /** Time limit in ms, with the wait for a place. */
  readonly timeoutMs: number
}

/** Error of a request without texts, with too many, or with a text that is empty or too long. */
export class NotEmbeddable extends Data.TaggedError("NotEmbeddable")<{ readonly reason: string }> {}

/** The model has not answered, or with an error. `reason` is for the log: it holds nothing of the texts. */
export class EmbeddingFailed extends Data.TaggedError("EmbeddingFailed")<{
  readonly status: number
  readonly reason: string
}> {}

export class EmbeddingTimedOut extends Data.TaggedError("EmbeddingTimedOut")<{ readonly timeoutMs: number }> {}

export type EmbeddingError = NotEmbeddable | EmbeddingFailed | EmbeddingTimedOut

export interface Embedded {
  /** Id of its usage row. */
  readonly requestId: string
  /** Vectors in the order of the texts, all of one length, each of norm 1. */
  readonly vectors: ReadonlyArray<Float32Array>
}

export class Embedder extends Context.Tag("gateway/plane/embedding/Embedder")<
  Embedder,
  {
    /** Interrupted, it ends the call of the upstream. */
    readonly embed: (request: EmbedderRequest) => Effect.Effect<Embedded, EmbeddingError>
  }
>() {}

const problemOf = (texts: ReadonlyArray<string>): string | null => {
  if (texts.length === 0) return "no text"
  if (texts.length > maxTexts) return `more than ${maxTexts} texts`
  if (texts.some((text) => text.trim() === "")) return "an empty text"
  return texts.some((text) => text.length > maxTextChars) ? `a text of more than ${maxTextChars} characters` : null
}

/** The vector scaled to length 1; null when it is none, or points nowhere. */
export const unitVector = (value: unknown): Float32Array | null => {
  if (!Array.isArray(value) || value.length === 0 || value.length > maxDimensions) return null
  if (!value.every((item): item is number => typeof item === "number" && Number.isFinite(item))) return null
  const length = Math.sqrt(value.reduce((sum, item) => sum + item * item, 0))
  if (!Number.isFinite(length) || length === 0) return null
  return Float32Array.from(value, (item) => item / length)
}

/** The vectors in an answer of `/v1/embeddings`, by their index; null where one is missing, broken or of another length. */
export const vectorsOf = (body: string, count: number): ReadonlyArray<Float32Array> | null => {
  const parsed = parseJson(body)
  const data = isObject(parsed) ? parsed["data"] : undefined
  if (!isArray(data) || data.length !== count) return null
  const found = new Map<number, Float32Array>()
  for (const [at, item] of data.entries()) {
    if (!isObject(item)) return null
    const vector = unitVector(item["embedding"])
    if (vector === null) return null
    found.set(typeof item["index"] === "number" ? item["index"] : at, vector)
  }
  const vectors = Array.from({ length: count }, (_, at) => found.get(at)).filter((vector) => vector !== undefined)
  const isEven = vectors.every(({ length }) => length === vectors[0]?.length)
  return isEven && vectors.length === count ? vectors : null
}

/** Code of an error in OpenAI's form: words of an upstream may repeat what it was sent. */
const codeIn = (body: string): string => {
  const parsed = parseJson(body)
  const error = isObject(parsed) ? parsed["error"] : undefined
  return isObject(error) ? (stringOr(error["code"]) ?? stringOr(error["type"]) ?? "no code").slice(0, 100) : "no code"
}

export const make = Effect.gen(function* () {
  const inner = yield* InnerRequests
  const places = makeLane(atOnceInAll)

  const embed = Effect.fn("Embedder.embed")(function* ({ model, principal, texts, timeoutMs }: EmbedderRequest) {
    const problem = problemOf(texts)
    if (problem !== null) return yield* new NotEmbeddable({ reason: problem })
    const answer = yield* inner
      .ask({
        behalf: { principal, madeFor: "aside" },
        path: embeddingPath,
        body: { model, input: texts, encoding_format: "float" },
        format: { wire: "chat", codec: embeddings }
      })
      .pipe(
        places.inTurn,
        Effect.timeoutFail({ duration: timeoutMs, onTimeout: () => new EmbeddingTimedOut({ timeoutMs }) })
      )
    const { body, error, requestId, status } = answer
    if (status !== 200) {
      const reason = error === null ? codeIn(body) : `${error._tag}, ${codeIn(body)}`
      return yield* new EmbeddingFailed({ status, reason })
    }
    const vectors = vectorsOf(body, texts.length)
    if (vectors === null) return yield* new EmbeddingFailed({ status, reason: "the answer holds no such vectors" })
    return { requestId, vectors }
  })

  return Embedder.of({ embed })
})

export const layer: Layer.Layer<Embedder, never, InnerRequests> = Layer.effect(Embedder, make)
