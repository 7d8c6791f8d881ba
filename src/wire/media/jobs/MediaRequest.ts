/**
 * Shared rules of requests for videos and music: `{model, prompt, seconds | duration, async?}`. Other members go
 * through.
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../contract/domain/Errors.ts"
import { noTokens } from "../../../contract/domain/Usage.ts"
import type { Conversation } from "../../canonical/Conversation.ts"
import type { Usage } from "../../canonical/Usage.ts"
import { optionalFieldProblem } from "../../Envelope.ts"
import { invalidField, mismatch } from "../../json/FieldReader.ts"
import { isObject, type Json, type JsonObject } from "../../json/Json.ts"
import { envelopeOf, wholeRequest } from "../WholeRequest.ts"
import type { Envelope, WireCodec } from "../../WireCodec.ts"
import { secondsOf } from "./Outputs.ts"

/** No provider reads more. */
const mostPromptChars = 32_000

const promptProblem = (prompt: Json | undefined, isOptional: boolean): InvalidRequest | null => {
  if (prompt === undefined || prompt === null || prompt === "") {
    return isOptional ? null : invalidField("prompt", "a prompt is required")
  }
  if (typeof prompt !== "string") return invalidField("prompt", mismatch(prompt, "a string"))
  return prompt.length > mostPromptChars ? invalidField("prompt", `at most ${mostPromptChars} characters`) : null
}

const secondsProblem = (body: JsonObject): InvalidRequest | null => {
  const wrong = ["seconds", "duration"].find((name) => (body[name] ?? null) !== null && secondsOf(body[name]) === null)
  return wrong === undefined ? null : invalidField(wrong, "expected a number of seconds")
}

/** Seconds that the request asks for; null where it does not say. */
export const requestedSeconds = ({ duration, seconds }: JsonObject): number | null =>
  secondsOf(seconds) ?? secondsOf(duration)

/** The members without those that are the gateway's own. */
export const withoutOwn = ({ async: _async, ...others }: JsonObject): JsonObject => others

export interface MediaRequestRules {
  /** Checks whether other members of the request make a prompt unnecessary. */
  readonly needsNoPrompt: (body: JsonObject) => boolean
  /** Seconds reserved where the request names no length: no provider's own default is longer. */
  readonly usualSeconds: number
}

type Reading = Pick<WireCodec, "checkEnvelope" | "decodeRequest"> & { readonly mediaUsage: (body: JsonObject) => Usage }

export const mediaRequest = ({ needsNoPrompt, usualSeconds }: MediaRequestRules): Reading => {
  const checkEnvelope = (body: unknown): Either.Either<Envelope, InvalidRequest> => {
    if (!isObject(body)) return Either.left(invalidField("body", mismatch(body, "a JSON object")))
    const { model } = body
    if (typeof model !== "string" || model === "") return Either.left(invalidField("model", "a model id is required"))
    const wrong =
      promptProblem(body["prompt"], needsNoPrompt(body)) ??
      secondsProblem(body) ??
      optionalFieldProblem(body, { async: "boolean" })
    return wrong === null ? Either.right(envelopeOf(model)) : Either.left(wrong)
  }
  return {
    checkEnvelope,
    decodeRequest: (body): Either.Either<Conversation, InvalidRequest> =>
      Either.map(checkEnvelope(body), ({ model }) => wholeRequest(body, model)),
    mediaUsage: (body) => ({ ...noTokens, units: { seconds: requestedSeconds(body) ?? usualSeconds } })
  }
}
