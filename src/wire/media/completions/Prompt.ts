/**
 * The prompt of a text completion: one string, or an array that holds one.
 *
 * https://developers.openai.com/api/reference/resources/completions/methods/create
 */
import * as Either from "effect/Either"
import type { InvalidRequest } from "../../../contract/domain/Errors.ts"
import { invalidField, mismatch } from "../../json/FieldReader.ts"
import { isArray, type JsonObject } from "../../json/Json.ts"

const refuse = (message: string): Either.Either<never, InvalidRequest> => Either.left(invalidField("prompt", message))

/** Reads the prompt. Fails with `InvalidRequest` when there is none, or one that a conversation cannot carry. */
export const promptOf = (body: JsonObject): Either.Either<string, InvalidRequest> => {
  const { prompt } = body
  const only = isArray(prompt) && prompt.length === 1 ? prompt[0] : prompt
  if (typeof only === "string") return only === "" ? refuse("a prompt is required") : Either.right(only)
  if (only === undefined || only === null || (isArray(prompt) && prompt.length === 0)) {
    return refuse("a prompt is required")
  }
  // Several strings, token ids, or lists of token ids.
  const tokens =
    typeof only === "number" || (isArray(only) && typeof (isArray(only[0]) ? only[0][0] : only[0]) === "number")
  if (tokens) return refuse("token ids cannot be sent to a conversation model: send the prompt as a string")
  return isArray(only)
    ? refuse("one prompt per request is served: send each prompt in a request of its own")
    : refuse(mismatch(only, "a string"))
}
