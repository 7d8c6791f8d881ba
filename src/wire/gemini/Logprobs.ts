/**
 * Log probabilities of tokens, both ways; the canonical form is that of the chat wire.
 *
 * https://ai.google.dev/api/generate-content
 */
import { isArray, isObject, type Json, type JsonObject, numberOr, objectOr, stringOr } from "../json/Json.ts"

const list = (value: Json | undefined): ReadonlyArray<JsonObject> => (isArray(value) ? value.filter(isObject) : [])

/** Servers leave out a probability of 1. `bytes` is null: a token may be a part of a character. */
const decodeToken = (token: JsonObject): JsonObject => ({
  token: stringOr(token["token"]) ?? "",
  logprob: numberOr(token["logProbability"]) ?? 0,
  bytes: null
})

export const decodeLogprobs = (candidate: JsonObject | undefined): ReadonlyArray<JsonObject> => {
  const result = objectOr(candidate?.["logprobsResult"])
  const tops = list(result["topCandidates"])
  return list(result["chosenCandidates"]).map((token, index) => {
    const alternatives = list(tops[index]?.["candidates"]).map(decodeToken)
    return Object.assign({ top_logprobs: alternatives }, decodeToken(token))
  })
}

const encodeToken = (token: JsonObject): JsonObject => ({
  token: stringOr(token["token"]) ?? "",
  logProbability: numberOr(token["logprob"]) ?? 0
})

/** The member of a candidate; nothing without tokens. */
export const encodeLogprobs = (content: Json | undefined): JsonObject => {
  const tokens = list(content)
  if (tokens.length === 0) return {}
  return {
    logprobsResult: {
      topCandidates: tokens.map((token) => ({ candidates: list(token["top_logprobs"]).map(encodeToken) })),
      chosenCandidates: tokens.map(encodeToken)
    }
  }
}
