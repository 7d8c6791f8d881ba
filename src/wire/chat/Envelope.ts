/**
 * The hot path of the chat wire: check what must hold, then relay the client's own bytes.
 *
 * https://developers.openai.com/api/reference/resources/chat/subresources/completions/methods/create
 */
import * as Either from "effect/Either"
import type { Dialect } from "../../contract/domain/Dialect.ts"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import { invalidField, mismatch } from "../json/FieldReader.ts"
import { isArray, isObject, isPositiveInteger, type JsonObject } from "../json/Json.ts"
import { type Edit, setTopLevel } from "../json/TopLevelSplice.ts"
import { optionalFieldProblem } from "../Envelope.ts"
import type { Envelope, RelayRequest } from "../WireCodec.ts"
import { hasReasoningWords, reasoningAsk } from "./ClientReasoning.ts"
import { asksForFunctions } from "./LegacyFunctions.ts"
import { takesStreamOptions } from "./RequestEncode.ts"

/** The output limit in tokens. Endpoints differ in which of the two members they obey: of both, the larger counts. */
const limitOf = ({ max_completion_tokens: current, max_tokens: older }: JsonObject): number | null => {
  const limits = [current, older].filter(isPositiveInteger)
  return limits.length === 0 ? null : Math.max(...limits)
}

const checks = {
  stream: "boolean",
  temperature: "number",
  top_p: "number",
  max_tokens: "limit",
  max_completion_tokens: "limit",
  n: "positive",
  tools: "array",
  stream_options: "object"
} as const

const hasImage = (content: unknown): boolean =>
  isArray(content) && content.some((part) => isObject(part) && part["type"] === "image_url")

const wantsReasoning = (body: JsonObject): boolean => {
  const effort = body["reasoning_effort"]
  if (!hasReasoningWords(body)) return typeof effort === "string" && effort !== "none"
  const ask = reasoningAsk(body)
  return ask === null ? isObject(body["reasoning"]) : ask.mode !== "off"
}

export const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const { messages, model } = body
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  if (!isArray(messages) || messages.length === 0) {
    return Either.left(invalidField("messages", "a non-empty array of messages is required"))
  }
  let hasImages = false
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index]
    if (!isObject(message)) return Either.left(invalidField(`messages[${index}]`, mismatch(message, "an object")))
    if (typeof message["role"] !== "string")
      return Either.left(invalidField(`messages[${index}].role`, "a role is required"))
    const content = message["content"] ?? null
    if (content !== null && typeof content !== "string" && !isArray(content)) {
      return Either.left(invalidField(`messages[${index}].content`, mismatch(content, "a string or an array of parts")))
    }
    hasImages ||= hasImage(content)
  }
  const wrong = optionalFieldProblem(body, checks)
  if (wrong !== null) return Either.left(wrong)
  const { n, response_format: format, stream_options: options, tools } = body
  return Either.right({
    model,
    stream: body["stream"] === true,
    wantsUsage: isObject(options) && options["include_usage"] === true,
    messageCount: messages.length,
    hasTools: (isArray(tools) && tools.length > 0) || asksForFunctions(body),
    hasImages,
    wantsReasoning: wantsReasoning(body),
    wantsSchema: isObject(format) && format["type"] === "json_schema",
    maxOutputTokens: limitOf(body),
    candidates: isPositiveInteger(n) ? n : 1,
    needsRewrite: false
  })
}

/** Splices another model into the client's own bytes, and a request for usage into streams that lack one. */
export const relayRequest = (
  raw: Buffer,
  parsed: JsonObject,
  model: string,
  envelope: Envelope,
  dialect?: Dialect
): RelayRequest => {
  const edits: Array<Edit> = [["model", JSON.stringify(model)]]
  const hideUsage = envelope.stream && !envelope.wantsUsage
  if (!takesStreamOptions(dialect)) {
    if (parsed["stream_options"] !== undefined) edits.push(["stream_options", null])
  } else if (hideUsage) {
    const options = parsed["stream_options"]
    edits.push(["stream_options", JSON.stringify({ ...(isObject(options) ? options : {}), include_usage: true })])
  }
  return { body: setTopLevel(raw, parsed, edits), hideUsage }
}
