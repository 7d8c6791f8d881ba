/** Files that say what a gateway shall have. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { readFileSync, statSync } from "node:fs"
import { Declared } from "../../../declared/Document.ts"
import { type Json, type JsonObject, objectOr } from "../../../declared/Values.ts"
import { filled } from "../../../declared/Variables.ts"
import { doubles, wantedOf } from "../../../declared/Wanted.ts"
import { isUnreadable } from "../../../tools/config/formats/Format.ts"
import { yaml } from "../../../tools/config/formats/Yaml.ts"
import { BadArgument } from "../../Failure.ts"
import { withoutValue } from "../../Flags.ts"

const maxFileBytes = 4 * 1_048_576

/** The text of a file, `-` for standard input. `flag`: how it was named. */
export const readText = (file: string, flag: string, hint: string): Effect.Effect<string, BadArgument> =>
  Effect.try({
    try: () => {
      if (file !== "-" && statSync(file).size > maxFileBytes) throw new Error(`is larger than ${maxFileBytes} bytes`)
      const text = readFileSync(file === "-" ? 0 : file, "utf8")
      if (text.length > maxFileBytes) throw new Error(`is larger than ${maxFileBytes} bytes`)
      return text
    },
    catch: (error) => {
      const why = error instanceof Error && error.message.startsWith("is larger") ? error.message : "cannot be read"
      return new BadArgument({
        message: `${flag}: '${file}' ${why}.`,
        hint
      })
    }
  })

const decode = Schema.decodeUnknownEither(Declared)

/** Complaints that are shown; the first ones are enough to mend a file. */
const mostComplaints = 20

const complaints = (error: ParseResult.ParseError): string =>
  ParseResult.ArrayFormatter.formatErrorSync(error)
    .slice(0, mostComplaints)
    .map(({ message, path }) => `${path.map(String).join(".")}: ${withoutValue(message)}`)
    .join("\n")

/** The value of a text in YAML or JSON. */
export const readYaml = (file: string, flag: string, hint: string): Effect.Effect<Json, BadArgument> =>
  Effect.gen(function* () {
    const parsed = yaml.parse(yield* readText(file, flag, hint))
    return isUnreadable(parsed)
      ? yield* new BadArgument({ message: `${flag}: '${file}' ${parsed.message}.`, hint: "Nothing was changed." })
      : parsed
  })

/** The document with its variables put in; nothing is asked of the gateway before it is right. */
export const documentOf = (
  value: Json,
  file: string,
  environment: ReadonlyMap<string, string>
): Effect.Effect<JsonObject, BadArgument> =>
  Effect.gen(function* () {
    const { unset, value: whole } = filled(value, environment)
    if (unset.length > 0) {
      const names = unset.join(", ")
      return yield* new BadArgument({ message: `Not set in the environment: ${names}.`, hint: "Nothing was changed." })
    }
    const decoded = decode(whole)
    if (Either.isLeft(decoded)) {
      return yield* new BadArgument({
        message: `'${file}' is not right:\n${complaints(decoded.left)}`,
        hint: "Nothing was changed."
      })
    }
    const [double] = doubles(wantedOf(objectOr(whole)))
    if (double !== undefined) return yield* new BadArgument({ message: double, hint: "Nothing was changed." })
    return objectOr(whole)
  })
