/**
 * `/v1/moderations`, as a variant of the chat wire's codec.
 *
 * https://developers.openai.com/api/reference/resources/moderations/methods/create (read on 2026-11-23)
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../contract/domain/Errors.ts"
import type { Conversation } from "../canonical/Conversation.ts"
import { chat } from "../chat/Codec.ts"
import { invalidField, mismatch } from "../json/FieldReader.ts"
import { isArray, isObject, type Json, type JsonObject } from "../json/Json.ts"
import { answersOf, valueIn } from "./OpaqueAnswer.ts"
import { isModeration } from "./OwnAnswers.ts"
import { envelopeOf, wholeRequest } from "./WholeRequest.ts"
import type { Envelope, WireCodec } from "../WireCodec.ts"

/** The provider's own default. */
const defaultModel = "omni-moderation-latest"

const isItem = (item: Json): boolean => typeof item === "string" || (isObject(item) && typeof item["type"] === "string")

const inputProblem = (input: Json | undefined): InvalidRequest | null => {
  if (input === undefined || input === null) return invalidField("input", "an input is required")
  if (typeof input === "string") return null
  if (!isArray(input)) return invalidField("input", mismatch(input, "a string or an array"))
  if (input.length === 0) return invalidField("input", "an input is required")
  const wrong = input.findIndex((item) => !isItem(item))
  return wrong < 0 ? null : invalidField(`input[${wrong}]`, "expected a text, or an object with a 'type'")
}

const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
  if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
  const { input, model = null } = body
  if (model !== null && (typeof model !== "string" || model === "")) {
    return Either.left(invalidField("model", mismatch(model, "a model id")))
  }
  const wrong = inputProblem(input)
  return wrong === null ? Either.right(envelopeOf(model ?? defaultModel)) : Either.left(wrong)
}

const decodeRequest = (body: JsonObject): Either.Either<Conversation, InvalidRequest> =>
  Either.map(checkEnvelope(body), ({ model }) => wholeRequest(body, model))

/** The provider does not report tokens, and does not charge for them. */
const upstream: WireCodec = {
  ...chat,
  endpoint: "moderations",
  encodeRequest: ({ extras = {} }, { model }) => ({ body: { ...extras, model }, dropped: [], mapped: [] }),
  // Several texts have a result each; the parts of one input have one together.
  isComplete: (response, { extras = {} }) => {
    const { input } = extras
    const { results } = valueIn("moderations", response)
    const texts = isArray(input) && input.every((item) => typeof item === "string") ? input.length : 1
    return isArray(results) && results.length === texts
  },
  ...answersOf("moderations", "results", {
    valueOf: ({ id: _id, model: _model, ...rest }) => (isArray(rest["results"]) ? rest : null),
    usageOf: () => null
  })
}

const overResponses: WireCodec = { ...upstream, name: "responses" }

/** The client's side. */
export const moderations: WireCodec = {
  ...chat,
  endpoint: "moderations",
  upstreamPath: "/moderations",
  isFree: true,
  maxCandidates: 1,
  peer: (wire, _body, adapter) => {
    if (adapter !== null) return null
    if (wire === "chat") return upstream
    return wire === "responses" ? overResponses : null
  },
  checkEnvelope,
  decodeRequest,
  isOwnAnswer: isModeration,
  encodeResponse: (response, { model }) => ({
    id: response.id ?? "modr-unknown",
    model: response.model ?? model,
    ...valueIn("moderations", response)
  })
}
