/**
 * The hot path of the ollama wire: check what must hold, then relay the client's own bytes.
 *
 * https://docs.ollama.com/api/chat
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import { optionalFieldProblem } from "../Envelope.ts"
import { invalidField, mismatch } from "../json/FieldReader.ts"
import { isArray, isObject, isPositiveInteger, type Json, type JsonObject, objectOr } from "../json/Json.ts"
import { replaceModelBytes } from "../json/TopLevelSplice.ts"
import type { Envelope, RelayRequest } from "../WireCodec.ts"
import { isStream } from "./Settings.ts"

const sharedChecks = { stream: "boolean", options: "object" } as const

const isSome = (list: Json | undefined): boolean => isArray(list) && list.length > 0

/** Members that both endpoints share. */
const envelopeOf = (
  body: JsonObject,
  model: string,
  own: Pick<Envelope, "messageCount" | "hasTools" | "hasImages">
): Envelope => {
  const { format, think } = body
  const limit = objectOr(body["options"])["num_predict"]
  return {
    model,
    stream: isStream(body),
    wantsUsage: true,
    ...own,
    wantsReasoning: think === true || (typeof think === "string" && think !== ""),
    wantsSchema: isObject(format),
    maxOutputTokens: isPositiveInteger(limit) ? limit : null,
    candidates: 1,
    needsRewrite: false
  }
}

export const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const { messages, model, tools } = body
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  if (!isArray(messages) || messages.length === 0) {
    return Either.left(invalidField("messages", "a non-empty array of messages is required"))
  }
  let hasImages = false
  for (let index = 0; index < messages.length; index += 1) {
    const message = messages[index]
    const path = `messages[${index}]`
    if (!isObject(message)) return Either.left(invalidField(path, mismatch(message, "an object")))
    if (typeof message["role"] !== "string") return Either.left(invalidField(`${path}.role`, "a role is required"))
    const content = message["content"] ?? ""
    if (typeof content !== "string") return Either.left(invalidField(`${path}.content`, mismatch(content, "a string")))
    hasImages ||= isSome(message["images"])
  }
  const wrong = optionalFieldProblem(body, { ...sharedChecks, tools: "array" })
  if (wrong !== null) return Either.left(wrong)
  return Either.right(envelopeOf(body, model, { messageCount: messages.length, hasTools: isSome(tools), hasImages }))
}

/** The same check for `/api/generate`. */
export const checkGenerateEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const { images, model, prompt } = body
  if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
  const hasImages = isSome(images)
  if (typeof prompt !== "string" || (prompt === "" && !hasImages)) {
    return Either.left(invalidField("prompt", "a prompt is required"))
  }
  const wrong = optionalFieldProblem(body, { ...sharedChecks, images: "array" })
  if (wrong !== null) return Either.left(wrong)
  const messageCount = typeof body["system"] === "string" && body["system"] !== "" ? 2 : 1
  return Either.right(envelopeOf(body, model, { messageCount, hasTools: false, hasImages }))
}

export const relayRequest = (raw: Buffer, parsed: JsonObject, model: string): RelayRequest => ({
  body: replaceModelBytes(raw, parsed, model),
  hideUsage: false
})
