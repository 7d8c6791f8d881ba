/**
 * The hot path of the responses wire: check what must hold, then relay the client's own bytes.
 *
 * https://developers.openai.com/api/reference/resources/responses/methods/create
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import { optionalFieldProblem } from "../Envelope.ts"
import { invalidField, mismatch } from "../json/FieldReader.ts"
import { isArray, isObject, isPositiveInteger, type Json, type JsonObject } from "../json/Json.ts"
import { replaceModelBytes } from "../json/TopLevelSplice.ts"
import type { Envelope, RelayRequest } from "../WireCodec.ts"
import { isMadeUpSearch } from "./Searches.ts"
import { isMadeUp } from "./Ids.ts"
import { refersElsewhere } from "./ItemDecode.ts"

const checks = {
  stream: "boolean",
  temperature: "number",
  top_p: "number",
  max_output_tokens: "limit",
  tools: "array",
  include: "array",
  reasoning: "object",
  text: "object"
} as const

const hasImage = (content: Json | undefined): boolean =>
  isArray(content) && content.some((part) => isObject(part) && part["type"] === "input_image")

/** Reasoning written by the gateway for an upstream of another wire: upstreams of this wire refuse it. */
const isUnproven = (item: JsonObject): boolean =>
  item["type"] === "reasoning" && typeof item["id"] === "string" && isMadeUp(item["id"])

interface Findings {
  hasImages: boolean
  needsRewrite: boolean
}

/** Null when the items are valid. */
const inspectItems = (items: ReadonlyArray<Json>, findings: Findings): InvalidRequest | null => {
  for (let index = 0; index < items.length; index += 1) {
    const item = items[index]
    if (!isObject(item)) return invalidField(`input[${index}]`, mismatch(item, "an object"))
    if (typeof item["type"] !== "string" && typeof item["role"] !== "string") {
      return invalidField(`input[${index}].type`, "an item needs a type, or a role")
    }
    if (isUnproven(item) || isMadeUpSearch(item)) findings.needsRewrite = true
    findings.hasImages ||= hasImage(item["content"]) || hasImage(item["output"])
  }
  return null
}

const inspectInput = (body: JsonObject, findings: Findings): InvalidRequest | null => {
  const input = body["input"] ?? null
  if (typeof input === "string") return null
  if (isArray(input)) return inspectItems(input, findings)
  if (input !== null) return invalidField("input", mismatch(input, "a string or an array of items"))
  const spoken = typeof body["instructions"] === "string" || refersElsewhere(body)
  return spoken ? null : invalidField("input", "a string or an array of items is required")
}

export const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const { input, max_output_tokens: limit, model, reasoning, text, tools } = body
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  const findings: Findings = { hasImages: false, needsRewrite: false }
  const wrong = inspectInput(body, findings) ?? optionalFieldProblem(body, checks)
  if (wrong !== null) return Either.left(wrong)
  const effort = isObject(reasoning) ? reasoning["effort"] : null
  const format = isObject(text) ? text["format"] : null
  return Either.right({
    model,
    stream: body["stream"] === true,
    wantsUsage: true,
    messageCount: isArray(input) ? input.length : 1,
    hasTools: isArray(tools) && tools.length > 0,
    ...findings,
    wantsReasoning: typeof effort === "string" && effort !== "none",
    wantsSchema: isObject(format) && format["type"] === "json_schema",
    maxOutputTokens: isPositiveInteger(limit) ? limit : null,
    candidates: 1
  })
}

export const relayRequest = (raw: Buffer, parsed: JsonObject, model: string): RelayRequest => ({
  body: replaceModelBytes(raw, parsed, model),
  hideUsage: false
})
