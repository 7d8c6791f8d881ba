/**
 * The hot path of the gemini wire: check the request, then relay the client's own bytes. Model and streaming come from the path: the
 * edge puts them into the parsed body as `model` and `stream`; they are not in the bytes.
 *
 * https://ai.google.dev/api/generate-content
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import { optionalFieldProblem } from "../Envelope.ts"
import { invalidField, mismatch } from "../json/FieldReader.ts"
import { isArray, isObject, isPositiveInteger, type Json, type JsonObject, objectOr, stringOr } from "../json/Json.ts"
import type { Envelope, RelayRequest } from "../WireCodec.ts"
import { camel, listOf } from "./Casing.ts"
import { needsSignatures } from "./Models.ts"
import { signedContents } from "./stream/SignedSteps.ts"

const bodyChecks = { stream: "boolean", tools: "array", toolConfig: "object", generationConfig: "object" } as const

const generationChecks = {
  temperature: "number",
  topP: "number",
  maxOutputTokens: "limit",
  candidateCount: "positive",
  stopSequences: "array",
  thinkingConfig: "object"
} as const

interface Findings {
  hasImages: boolean
}

const isImage = (part: JsonObject): boolean => {
  const media = part["inlineData"] ?? part["fileData"]
  return isObject(media) && stringOr(camel(media)["mimeType"])?.startsWith("image/") === true
}

const inspectUser = (parts: ReadonlyArray<Json>, findings: Findings): void => {
  for (const source of parts) if (isObject(source) && isImage(camel(source))) findings.hasImages = true
}

const inspectContents = (contents: ReadonlyArray<Json>): Either.Either<Findings, InvalidRequest> => {
  const findings: Findings = { hasImages: false }
  for (let index = 0; index < contents.length; index += 1) {
    const content = contents[index]
    if (!isObject(content)) return Either.left(invalidField(`contents[${index}]`, mismatch(content, "an object")))
    const role = content["role"] ?? "user"
    if (typeof role !== "string")
      return Either.left(invalidField(`contents[${index}].role`, mismatch(role, "a string")))
    // Gemini refuses contents without parts. One of the model may be an empty answer.
    const parts = content["parts"] ?? (role === "model" ? [] : undefined)
    const list = listOf(parts)
    if (list === undefined) {
      return Either.left(invalidField(`contents[${index}].parts`, mismatch(parts, "an array of parts")))
    }
    if (role !== "model") inspectUser(list, findings)
  }
  return Either.right(findings)
}

const wantsReasoning = (source: Json | undefined): boolean => {
  const { includeThoughts, thinkingBudget, thinkingLevel } = camel(objectOr(source))
  if (thinkingBudget === 0) return false
  return (
    includeThoughts === true ||
    typeof thinkingBudget === "number" ||
    (typeof thinkingLevel === "string" && thinkingLevel !== "THINKING_LEVEL_UNSPECIFIED")
  )
}

export const checkEnvelope = (source: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(source)) return Either.left(invalidField("body", mismatch(source, "a JSON object")))
  const body = camel(source)
  const { model, tools } = body
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  const contents = listOf(body["contents"])
  if (contents === undefined || contents.length === 0) {
    return Either.left(invalidField("contents", "a non-empty array of contents is required"))
  }
  const generation = camel(objectOr(body["generationConfig"]))
  const wrong =
    optionalFieldProblem(body, bodyChecks) ?? optionalFieldProblem(generation, generationChecks, "generationConfig.")
  if (wrong !== null) return Either.left(wrong)
  const { candidateCount, maxOutputTokens, responseJsonSchema, responseSchema } = generation
  return Either.map(inspectContents(contents), ({ hasImages }) => ({
    model,
    stream: body["stream"] === true,
    wantsUsage: true,
    messageCount: contents.length,
    hasTools: isArray(tools) && tools.length > 0,
    hasImages,
    wantsReasoning: wantsReasoning(generation["thinkingConfig"]),
    wantsSchema: isObject(responseSchema) || isObject(responseJsonSchema),
    maxOutputTokens: isPositiveInteger(maxOutputTokens) ? maxOutputTokens : null,
    candidates: isPositiveInteger(candidateCount) ? candidateCount : 1,
    needsRewrite: foreignSchema(tools)
  }))
}

/** Keywords of JSON Schema that clients leave in `parameters` although the wire's subset does not have them. */
const foreignKeywords = ["oneOf", "allOf", "$ref", "$schema", "$defs", "const", "additionalProperties"]

const deepest = 12

const isForeign = (schema: unknown, depth: number): boolean => {
  if (!isObject(schema) || depth > deepest) return false
  if (foreignKeywords.some((keyword) => schema[keyword] !== undefined)) return true
  const below = [...Object.values(objectOr(schema["properties"])), schema["items"], ...(listOf(schema["anyOf"]) ?? [])]
  return below.some((inner) => isForeign(inner, depth + 1))
}

const foreignSchema = (tools: Json | undefined): boolean =>
  (listOf(tools) ?? []).some((tool) =>
    (listOf(objectOr(camel(objectOr(tool)))["functionDeclarations"]) ?? []).some((declaration) =>
      isForeign(objectOr(declaration)["parameters"], 0)
    )
  )

/**
 * The bytes as they are: the upstream's model is in the path. Only steps of calls are signed for models that refuse them without; what else the
 * request holds is not written anew, because a client's own form of it is what the provider has in its prompt cache.
 */
export const relayRequest = (raw: Buffer, parsed: JsonObject, model: string): RelayRequest => {
  const contents = needsSignatures(model) ? signedContents(parsed) : null
  if (contents === null) return { body: raw, hideUsage: false }
  const { model: _model, stream: _stream, ...own } = parsed
  return { body: Buffer.from(JSON.stringify({ ...own, contents })), hideUsage: false }
}
