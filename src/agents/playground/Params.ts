/** Checks the parameters of a preset, which are kept as text. Pure. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { maxParamsChars, PlaygroundParams, playgroundParams } from "../../subjects/playground/entity.ts"
import { expectedOf } from "../../kernel/Expectation.ts"
import { isObject, parseJson } from "../../wire/json/Json.ts"

const decode = Schema.decodeUnknownEither(PlaygroundParams, { onExcessProperty: "error", errors: "all" })

const known = playgroundParams.join(", ")

/** Reads the parameters. Left: the problem, to be read behind the name of the field. */
export const readParams = (text: string): Either.Either<PlaygroundParams, string> => {
  if (text.length > maxParamsChars) return Either.left(`must have at most ${maxParamsChars} characters`)
  const parsed = parseJson(text)
  if (!isObject(parsed)) return Either.left("must be a JSON object, as text")
  const unknown = Object.keys(parsed).find((name) => !playgroundParams.some((each) => each === name))
  if (unknown !== undefined) return Either.left(`holds '${unknown.slice(0, 100)}'; it may hold ${known}`)
  return Either.mapLeft(decode(parsed), (error) => {
    const issues = ParseResult.ArrayFormatter.formatErrorSync(error)
    const at = issues[0]?.path.join(".") ?? ""
    const messages = issues.flatMap(({ message, path }) => (path.join(".") === at ? message : []))
    return `is wrong at '${at}': it ${expectedOf(messages)}`
  })
}
