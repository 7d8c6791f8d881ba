/**
 * Answers without text in the gateway's own forms, as a client gets them: for answers that come from elsewhere than from an upstream's codec
 * (`WireCodec.isOwnAnswer`). Pure.
 */
import { isArray, isObject, type Json, type JsonObject, numberOr, stringOr } from "../json/Json.ts"

type Check<A> = (value: A) => boolean

const isListOf = (value: Json | undefined, isItem: Check<Json>): boolean => isArray(value) && value.every(isItem)

/** One at least. */
const isFullListOf = (value: Json | undefined, isItem: Check<Json>): boolean =>
  isArray(value) && value.length > 0 && value.every(isItem)

const isNumber = (value: Json): boolean => numberOr(value) !== null

/** Numbers, or all of them as a text in base64. */
export const isVector = (value: Json | undefined): boolean =>
  typeof value === "string" ? value !== "" : isFullListOf(value, isNumber)

const has = (value: Json, isMember: Check<JsonObject>): boolean => isObject(value) && isMember(value)

export const isRanking: Check<JsonObject> = ({ results }) =>
  isListOf(results, (each) =>
    has(each, ({ index, relevance_score: score }) => {
      const place = numberOr(index)
      return place !== null && Number.isSafeInteger(place) && place >= 0 && numberOr(score) !== null
    })
  )

export const isModeration: Check<JsonObject> = ({ results }) =>
  isFullListOf(results, (each) => has(each, ({ flagged }) => typeof flagged === "boolean"))

export const isEmbeddings: Check<JsonObject> = ({ data }) =>
  isFullListOf(data, (each) => has(each, ({ embedding }) => isVector(embedding)))

/** Cohere's: of each type that was asked for. */
export const isCohereEmbeddings: Check<JsonObject> = ({ embeddings }) => {
  if (!isObject(embeddings)) return isFullListOf(embeddings, isVector)
  const all = Object.values(embeddings)
  return all.length > 0 && all.every((list) => isFullListOf(list, isVector))
}

const hasValues = (value: Json | undefined): boolean => isObject(value) && isVector(value["values"])

/** Gemini's, of one content. */
export const isEmbeddedContent: Check<JsonObject> = ({ embedding }) => hasValues(embedding)

/** Gemini's, of several. */
export const isEmbeddedBatch: Check<JsonObject> = ({ embeddings }) => isFullListOf(embeddings, hasValues)

/** Ollama's. */
export const isOllamaEmbeddings: Check<JsonObject> = ({ embeddings }) => isFullListOf(embeddings, isVector)

/** Ollama's older one, of one text. */
export const isOllamaEmbedding: Check<JsonObject> = ({ embedding }) => isVector(embedding)

/** Checks for videos and music in the form that waiting clients get. */
export const isOutputs: Check<JsonObject> = ({ data }) =>
  isFullListOf(data, (each) =>
    has(each, ({ b64_json: bytes, url }) => (stringOr(bytes) ?? "") !== "" || (stringOr(url) ?? "") !== "")
  )
