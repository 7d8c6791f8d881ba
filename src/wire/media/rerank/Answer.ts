/** The answer of a reranker: `{results: [{index, relevance_score}]}`, best first. */
import type { Response } from "../../canonical/Response.ts"
import { countOr, mergeUsage, type Usage } from "../../canonical/Usage.ts"
import { isArray, isObject, type Json, type JsonObject, numberOr, objectOr, optional } from "../../json/Json.ts"
import { type AnswerReading, valueIn } from "../OpaqueAnswer.ts"
import type { EncodeContext } from "../../WireCodec.ts"
import { documentText } from "./Request.ts"

interface Ranked {
  readonly index: number
  readonly score: number
}

const ranked = (item: Json, scoreName: string): ReadonlyArray<Ranked> => {
  if (!isObject(item)) return []
  const { index } = item
  const score = numberOr(item[scoreName])
  return typeof index === "number" && Number.isSafeInteger(index) && index >= 0 && score !== null
    ? [{ index, score }]
    : []
}

const bestFirst = (one: Ranked, other: Ranked): number => other.score - one.score || one.index - other.index

/** Null when the list is not there, or something in it is no result. */
const resultsOf = (list: Json | undefined, scoreName: string): ReadonlyArray<JsonObject> | null => {
  if (!isArray(list)) return null
  const found = list.flatMap((item) => ranked(item, scoreName))
  return found.length < list.length
    ? null
    : found.toSorted(bestFirst).map(({ index, score }) => ({ index, relevance_score: score }))
}

const reading = (listName: string, scoreName: string): AnswerReading["valueOf"] => {
  return (body) => {
    const results = resultsOf(body[listName], scoreName)
    return results === null ? null : { results, ...optional("meta", isObject(body["meta"]) ? body["meta"] : null) }
  }
}

const tokensOf = (body: JsonObject): Usage | null => {
  const usage = objectOr(body["usage"])
  const billed = objectOr(objectOr(body["meta"])["tokens"])
  const tokens = countOr(usage["total_tokens"]) ?? countOr(usage["prompt_tokens"]) ?? countOr(billed["input_tokens"])
  const searchUnits = countOr(objectOr(objectOr(body["meta"])["billed_units"])["search_units"])
  if (tokens === null && searchUnits === null) return null
  return mergeUsage(null, { in: tokens ?? 0, ...(searchUnits === null ? {} : { units: { searchUnits } }) })
}

export const usual: AnswerReading = { valueOf: reading("results", "relevance_score"), usageOf: tokensOf }
export const voyage: AnswerReading = { valueOf: reading("data", "relevance_score"), usageOf: tokensOf }
/** Reading of NVIDIA's answers. The scores are logits: higher is better, and they may be below zero. */
export const nvidia: AnswerReading = { valueOf: reading("rankings", "logit"), usageOf: tokensOf }

/** Checks whether each result is of another one of `documents` documents. */
export const isOfDocuments = (response: Response, documents: number): boolean => {
  const { results } = valueIn("rerank", response)
  const places = isArray(results) ? results.map((result) => Number(objectOr(result)["index"])) : []
  return new Set(places).size === places.length && places.every((place) => place < documents)
}

const withDocument = (result: Json, given: ReadonlyArray<Json>): Json => {
  if (!isObject(result)) return result
  const text = documentText(given[Number(result["index"])])
  return text === null ? result : { ...result, document: { text } }
}

/** Encodes at most `top_n` results, with their documents where the client wants them back. */
export const encodeResponse = (response: Response, { model, request = {} }: EncodeContext): JsonObject => {
  const { results, ...rest } = valueIn("rerank", response)
  const { documents, return_documents: wanted, top_n: most } = request
  const found = isArray(results) ? results.slice(0, typeof most === "number" ? most : undefined) : []
  const given = isArray(documents) ? documents : []
  const tokens = response.usage?.in ?? 0
  return {
    ...optional("id", response.id),
    model: response.model ?? model,
    results: wanted === true ? found.map((result) => withDocument(result, given)) : found,
    ...rest,
    ...optional("usage", tokens === 0 ? null : { prompt_tokens: tokens, total_tokens: tokens })
  }
}
