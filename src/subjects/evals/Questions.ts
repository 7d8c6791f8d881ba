/** The request of a case, and what its answer says. Pure. */
import * as Either from "effect/Either"
import type { EvalMessage } from "./entity.ts"
import { chat } from "../../wire/chat/Codec.ts"
import { isObject, type JsonObject, parseJson } from "../../wire/json/Json.ts"

/** Token limit of an answer, high enough for models that think first. */
export const maxAnswerTokens = 2_048

export const bodyOf = (model: string, messages: ReadonlyArray<EvalMessage>): JsonObject => ({
  model,
  messages: messages as unknown as ReadonlyArray<JsonObject>,
  max_tokens: maxAnswerTokens
})

export type ReadAnswer =
  | { readonly _tag: "Answered"; readonly text: string }
  | { readonly _tag: "Unanswered"; readonly reason: string }

const unanswered = (reason: string): ReadAnswer => ({ _tag: "Unanswered", reason })

const errorIn = (body: JsonObject): string | null => {
  const { error } = body
  return isObject(error) && typeof error["message"] === "string" ? error["message"] : null
}

export const readAnswer = (status: number, body: string): ReadAnswer => {
  const parsed = parseJson(body)
  if (status !== 200) {
    const said = isObject(parsed) ? errorIn(parsed) : null
    return unanswered(said === null ? `The status is ${status}.` : `${status}: ${said}`)
  }
  if (!isObject(parsed)) return unanswered("The answer cannot be read.")
  const response = chat.decodeResponse(parsed)
  if (Either.isLeft(response)) return unanswered("The answer cannot be read.")
  return {
    _tag: "Answered",
    text: response.right.parts.map((part) => (part.type === "text" ? part.text : "")).join("")
  }
}
