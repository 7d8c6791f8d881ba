/**
 * The hot path of the messages wire: check what must hold, then relay the client's own bytes.
 *
 * https://platform.claude.com/docs/en/api/messages
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import { optionalFieldProblem } from "../Envelope.ts"
import { invalidField, mismatch } from "../json/FieldReader.ts"
import { isArray, isObject, isPositiveInteger, type Json, type JsonObject } from "../json/Json.ts"
import { replaceModelBytes } from "../json/TopLevelSplice.ts"
import type { Envelope, RelayRequest } from "../WireCodec.ts"
import { isMadeUp, lacksProof } from "./Searches.ts"

const checks = {
  stream: "boolean",
  temperature: "number",
  top_p: "number",
  max_tokens: "positive",
  tools: "array",
  stop_sequences: "array",
  thinking: "object"
} as const

interface Findings {
  hasImages: boolean
  needsRewrite: boolean
  systemBetween?: true
  budgetAboveLimit?: true
}

/** Call ids that this wire's upstreams accept and generate. */
const plainId = /^[a-zA-Z0-9_-]{1,64}$/

const isOdd = (id: Json | undefined): boolean => typeof id === "string" && !plainId.test(id)

/** Records images, and content that came from an upstream of another wire: unsigned reasoning, other forms of call ids. */
const inspect = (content: ReadonlyArray<Json>, findings: Findings): void => {
  for (const block of content) {
    if (!isObject(block)) continue
    if (block["type"] === "text") {
      if (isArray(block["citations"]) && block["citations"].some(lacksProof)) findings.needsRewrite = true
    } else if (block["type"] === "image") findings.hasImages = true
    else if (block["type"] === "thinking" && !block["signature"]) findings.needsRewrite = true
    else if (isMadeUp(block)) findings.needsRewrite = true
    else if (isOdd(block["type"] === "tool_use" ? block["id"] : block["tool_use_id"])) findings.needsRewrite = true
  }
}

/** The same check for token counting, which does not need `max_tokens`. */
export const checkCountEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const { max_tokens: maxTokens, messages, model, thinking, tools } = body
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  if (!isArray(messages) || messages.length === 0) {
    return Either.left(invalidField("messages", "a non-empty array of messages is required"))
  }
  const findings: Findings = { hasImages: false, needsRewrite: false }
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index]
    if (!isObject(message)) return Either.left(invalidField(`messages[${index}]`, mismatch(message, "an object")))
    const { content, role } = message
    if (typeof role !== "string") return Either.left(invalidField(`messages[${index}].role`, "a role is required"))
    if (role === "system") findings.systemBetween = true
    if (isArray(content)) inspect(content, findings)
    else if (typeof content !== "string") {
      return Either.left(
        invalidField(`messages[${index}].content`, mismatch(content, "a string or an array of blocks"))
      )
    }
  }
  const wrong = optionalFieldProblem(body, checks)
  if (wrong !== null) return Either.left(wrong)
  const config = body["output_config"]
  const budget = isObject(thinking) && thinking["type"] === "enabled" ? thinking["budget_tokens"] : null
  if (typeof budget === "number" && isPositiveInteger(maxTokens) && budget >= maxTokens)
    findings.budgetAboveLimit = true
  return Either.right({
    model,
    stream: body["stream"] === true,
    wantsUsage: true,
    messageCount: messages.length,
    hasTools: isArray(tools) && tools.length > 0,
    ...findings,
    wantsReasoning: isObject(thinking) && thinking["type"] !== "disabled",
    wantsSchema: (isObject(config) && isObject(config["format"])) || isObject(body["output_format"]),
    maxOutputTokens: isPositiveInteger(maxTokens) ? maxTokens : null,
    candidates: 1
  })
}

export const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> =>
  Either.flatMap(checkCountEnvelope(body), (envelope) =>
    envelope.maxOutputTokens === null
      ? Either.left(invalidField("max_tokens", "a positive integer is required"))
      : Either.right(envelope)
  )

export const relayRequest = (raw: Buffer, parsed: JsonObject, model: string): RelayRequest => ({
  body: replaceModelBytes(raw, parsed, model),
  hideUsage: false
})
