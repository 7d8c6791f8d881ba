/** Files that say what a gateway shall have. */
import * as Effect from "effect/Effect"
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { readFileSync, statSync } from "node:fs"
import { Declared } from "../../declared/Document.ts"
import { sortedGaps } from "../../declared/Kept.ts"
import type { DeclaredThing } from "../../declared/Plan.ts"
import { type Json, objectOr } from "../../declared/Values.ts"
import { filled } from "../../declared/Variables.ts"
import { doubles, wantedOf } from "../../declared/DesiredState.ts"
import { isUnreadable } from "../../../agents/tools/config/formats/Format.ts"
import { yaml } from "../../../agents/tools/config/formats/Yaml.ts"
import { BadArgument } from "../../../cli/Failure.ts"
import { withoutValue } from "../../../cli/flags/Flags.ts"
import { asSentence } from "../../../kernel/text/Sentence.ts"

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
        message: `${flag}: '${file}' ${asSentence(why)}`,
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
      ? yield* new BadArgument({
          message: `${flag}: '${file}' ${asSentence(parsed.message)}`,
          hint: "Nothing was changed."
        })
      : parsed
  })

/**
 * Reads the entries of a document, with its variables put in; the gateway is not asked before it is right. Secrets that refer to
 * variables without a value are marked: the gateway may have them.
 */
export const wantedIn = (
  value: Json,
  file: string,
  environment: ReadonlyMap<string, string>
): Effect.Effect<ReadonlyArray<DeclaredThing>, BadArgument> =>
  Effect.gen(function* () {
    const { gaps, value: whole } = filled(value, environment)
    const { missing, needed } = sortedGaps(gaps)
    if (needed.length > 0) {
      return yield* new BadArgument({
        message: `Not set in the environment: ${needed.join(", ")}.`,
        hint: "Nothing was changed."
      })
    }
    const decoded = decode(whole)
    if (Either.isLeft(decoded)) {
      return yield* new BadArgument({
        message: `'${file}' is not right:\n${complaints(decoded.left)}`,
        hint: "Nothing was changed."
      })
    }
    const wanted = wantedOf(objectOr(whole), missing)
    const [double] = doubles(wanted)
    if (double !== undefined) return yield* new BadArgument({ message: double, hint: "Nothing was changed." })
    return wanted
  })
