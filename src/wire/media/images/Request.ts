/**
 * Requests for pictures, in the form of OpenAI's endpoint.
 *
 * https://developers.openai.com/api/reference/resources/images/methods/generate (read on 2026-11-23)
 */
import * as Either from "effect/Either"
import { type InvalidRequest } from "../../../contract/domain/Errors.ts"
import { noTokens } from "../../../contract/domain/Usage.ts"
import type { Conversation } from "../../canonical/Conversation.ts"
import type { Usage } from "../../canonical/Usage.ts"
import { optionalFieldProblem } from "../../Envelope.ts"
import { invalidField, mismatch } from "../../json/FieldReader.ts"
import { isObject, isPositiveInteger, type JsonObject, stringOr } from "../../json/Json.ts"
import { replaceModelBytes } from "../../json/TopLevelSplice.ts"
import { envelopeOf, wholeRequest } from "../WholeRequest.ts"
import type { Envelope, WireCodec } from "../../WireCodec.ts"

/** No provider reads more. */
const mostPromptChars = 100_000
/** Most pictures that OpenAI makes for a request; other providers make fewer. */
const mostImages = 10
const mostPartialImages = 3

const texts = ["size", "quality", "background", "output_format", "moderation", "style"] as const
const mostTextChars = 64

const textProblem = (body: JsonObject): InvalidRequest | null => {
  for (const name of texts) {
    const value = body[name] ?? null
    if (value === null) continue
    if (typeof value !== "string") return invalidField(name, mismatch(value, "a string"))
    if (value.length > mostTextChars) return invalidField(name, `at most ${mostTextChars} characters`)
  }
  return null
}

const countProblem = ({ n = null, partial_images: partial = null }: JsonObject): InvalidRequest | null => {
  if (n !== null && !(isPositiveInteger(n) && n <= mostImages)) {
    return invalidField("n", `expected an integer from 1 to ${mostImages}`)
  }
  const isFew = typeof partial === "number" && Number.isInteger(partial) && partial >= 0 && partial <= mostPartialImages
  return partial === null || isFew
    ? null
    : invalidField("partial_images", `expected an integer from 0 to ${mostPartialImages}`)
}

const formatProblem = ({ response_format: format = null }: JsonObject): InvalidRequest | null =>
  format === null || format === "url" || format === "b64_json"
    ? null
    : invalidField("response_format", "expected 'url' or 'b64_json'")

export const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const { model, prompt } = body
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  if (typeof prompt !== "string" || prompt === "") return Either.left(invalidField("prompt", "a prompt is required"))
  if (prompt.length > mostPromptChars)
    return Either.left(invalidField("prompt", `at most ${mostPromptChars} characters`))
  const wrong =
    optionalFieldProblem(body, { stream: "boolean" }) ?? textProblem(body) ?? countProblem(body) ?? formatProblem(body)
  if (wrong !== null) return Either.left(wrong)
  return Either.right({ ...envelopeOf(model), stream: body["stream"] === true })
}

export const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
  Either.map(checkEnvelope(body), ({ model, stream }) => ({ ...wholeRequest(body, model), stream }))

export const relayRequest: WireCodec["relayRequest"] = (raw, parsed, model) => ({
  body: replaceModelBytes(raw, parsed, model),
  hideUsage: false
})

/** Requested pictures. */
export const countOf = ({ n }: JsonObject): number => (isPositiveInteger(n) ? n : 1)

/** Reads a setting of a picture; null where there is none, or the provider is to choose. */
export const toldOf = (value: unknown): string | null => {
  const text = typeof value === "string" ? value : ""
  return text === "" || text === "auto" || text.length > mostTextChars ? null : text
}

/**
 * Tokens of a picture of 1024 × 1024 and of larger ones, by quality. What the provider chooses itself is taken to be of the best.
 *
 * https://developers.openai.com/api/docs/guides/image-generation#cost-and-latency (read on 2026-11-23)
 */
const tokensByQuality: Readonly<Record<string, readonly [square: number, larger: number]>> = {
  low: [272, 408],
  medium: [1_056, 1_584],
  high: [4_160, 6_240]
}
const most = [4_160, 6_240] as const

const tokensOf = ({ quality, size }: JsonObject): number => {
  const [square, larger] = tokensByQuality[stringOr(quality) ?? ""] ?? most
  return toldOf(size) === "1024x1024" ? square : larger
}

/** Estimates the most that the request may cost: by picture, or by token. */
export const mostUsage = (request: JsonObject): Usage => {
  const count = countOf(request)
  return {
    ...noTokens,
    out: count * tokensOf(request),
    units: { images: { count, size: toldOf(request["size"]), quality: toldOf(request["quality"]) } }
  }
}

/** Completes the usage: an answer counts its pictures; their other facts are those of the request. */
export const billedUsage = (usage: Usage, request: JsonObject): Usage => {
  const images = usage.units?.images
  if (images === undefined) return usage
  const { count, quality, size } = images
  const asked = { size: toldOf(request["size"]), quality: toldOf(request["quality"]) }
  return {
    ...usage,
    units: { ...usage.units, images: { count, size: size ?? asked.size, quality: quality ?? asked.quality } }
  }
}
