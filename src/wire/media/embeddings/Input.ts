/**
 * Input to be embedded: a text, texts, or the token ids of one or of several.
 *
 * https://developers.openai.com/api/reference/resources/embeddings/methods/create (read in 2026-11)
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../contract/domain/Errors.ts"
import { optionalFieldProblem } from "../../Envelope.ts"
import { invalidField, mismatch } from "../../json/FieldReader.ts"
import { isArray, isObject, type Json } from "../../json/Json.ts"
import { envelopeOf } from "../WholeRequest.ts"
import type { Envelope } from "../../WireCodec.ts"

const isTokens = (value: Json | undefined): boolean =>
  isArray(value) && value.length > 0 && value.every((token) => Number.isSafeInteger(token))

/** The texts; null when there are token ids instead, which only their own model family understands. */
export const textsOf = (input: Json | undefined): ReadonlyArray<string> | null => {
  if (typeof input === "string") return [input]
  if (!isArray(input)) return null
  const texts = input.flatMap((item) => (typeof item === "string" ? item : []))
  return texts.length === input.length && texts.length > 0 ? texts : null
}

/** Lists of token ids, one for each input; null when there are texts, or nothing. */
export const tokensOf = (input: Json | undefined): ReadonlyArray<ReadonlyArray<number>> | null => {
  if (!isArray(input) || input.length === 0) return null
  const ids = (list: Json): ReadonlyArray<number> =>
    isArray(list) ? list.flatMap((id) => (typeof id === "number" ? [id] : [])) : []
  if (isTokens(input)) return [ids(input)]
  return input.every(isTokens) ? input.map(ids) : null
}

/** Counts the vectors that answer an input. */
export const inputCount = (input: Json | undefined): number => (isArray(input) && !isTokens(input) ? input.length : 1)

const inputProblem = (input: Json | undefined): InvalidRequest | null => {
  if (input === undefined || input === null || input === "" || (isArray(input) && input.length === 0)) {
    return invalidField("input", "an input is required")
  }
  if (textsOf(input) !== null || isTokens(input)) return null
  if (!isArray(input)) return invalidField("input", mismatch(input, "a string or an array"))
  const wrong = input.findIndex((item) => !(typeof input[0] === "string" ? typeof item === "string" : isTokens(item)))
  return wrong < 0
    ? null
    : invalidField(`input[${wrong}]`, "expected strings only, token ids only, or non-empty arrays of token ids only")
}

const formatProblem = (format: Json | undefined): InvalidRequest | null =>
  format === undefined || format === null || format === "float" || format === "base64"
    ? null
    : invalidField("encoding_format", "expected 'float' or 'base64'")

export const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const { encoding_format: format, input, model } = body
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  const wrong = inputProblem(input) ?? formatProblem(format) ?? optionalFieldProblem(body, { dimensions: "positive" })
  if (wrong !== null) return Either.left(wrong)
  return Either.right(envelopeOf(model))
}
