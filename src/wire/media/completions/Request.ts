/**
 * Text completion request → canonical conversation: the prompt becomes one user turn, everything else is as on the chat wire. Members
 * that only this endpoint has (`logprobs` as a number, `best_of`) are named as dropped; without its `suffix` it would be another question.
 *
 * https://developers.openai.com/api/reference/resources/completions/methods/create
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../contract/domain/Errors.ts"
import type { Conversation } from "../../canonical/Conversation.ts"
import { decodeRequest as decodeChat } from "../../chat/RequestDecode.ts"
import { optionalFieldProblem } from "../../Envelope.ts"
import { invalidField, mismatch } from "../../json/FieldReader.ts"
import { isObject, isPositiveInteger, type JsonObject, optional } from "../../json/Json.ts"
import type { Envelope } from "../../WireCodec.ts"
import { promptOf } from "./Prompt.ts"

const checks = {
  stream: "boolean",
  echo: "boolean",
  temperature: "number",
  top_p: "number",
  max_tokens: "limit",
  n: "positive",
  best_of: "positive",
  stream_options: "object"
} as const

/** `n`: answers beyond the first would be lost in a conversation. */
const oneAnswer = (body: JsonObject): InvalidRequest | null =>
  isPositiveInteger(body["n"]) && body["n"] > 1
    ? invalidField("n", "one answer per request is served: send the request again for another")
    : null

export const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const { max_tokens: limit, model, stream_options: options } = body
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  const wrong = optionalFieldProblem(body, checks) ?? oneAnswer(body)
  if (wrong !== null) return Either.left(wrong)
  return Either.map(promptOf(body), () => ({
    model,
    stream: body["stream"] === true,
    wantsUsage: isObject(options) && options["include_usage"] === true,
    messageCount: 1,
    hasTools: false,
    hasImages: false,
    wantsReasoning: false,
    wantsSchema: false,
    maxOutputTokens: isPositiveInteger(limit) ? limit : null,
    candidates: 1,
    needsRewrite: false
  }))
}

const lostOf = ({ best_of: bestOf, logprobs }: JsonObject): ReadonlyArray<string> => [
  ...(typeof logprobs === "number" || logprobs === true ? ["logprobs"] : []),
  ...(isPositiveInteger(bestOf) && bestOf > 1 ? ["best_of"] : [])
]

export const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
  Either.gen(function* () {
    const prompt = yield* promptOf(body)
    const many = oneAnswer(body)
    if (many !== null) return yield* Either.left(many)
    // `echo` is applied when the answer is written.
    const { best_of: _best, echo: _echo, logprobs: _logprobs, n: _n, prompt: _prompt, suffix, ...others } = body
    const shared = suffix === "" ? others : { ...others, ...optional("suffix", suffix) }
    const conversation = yield* decodeChat({ ...shared, messages: [{ role: "user", content: prompt }] })
    return { ...conversation, leftOut: lostOf(body) }
  })
