/**
 * Patterns of the operator's own. They are RE2 expressions (no look-around, no back-references), which match in time linear in the text whatever
 * the pattern; what is outside of that syntax is refused when it is saved. Pure.
 */
import * as Either from "effect/Either"
import { RE2JS } from "re2js"
import { type CustomPattern, longestCustomChars } from "./Detectors.ts"

export interface PatternSource {
  readonly name: string
  readonly pattern: string
  readonly replacement: string
}

/** Characters of a pattern: what it is compiled to grows with it. */
export const maxPatternChars = 500
/** What it is compiled to: a repetition multiplies what it repeats, and each character of a text is looked at by every instruction. */
export const maxInstructions = 2_000

const message = (error: unknown): string => (error instanceof Error ? error.message : String(error))

const compiled = (pattern: string): Either.Either<RE2JS, string> =>
  Either.try({
    try: () => RE2JS.compile(pattern),
    catch: (error) =>
      `is not a pattern that is matched in linear time (RE2 syntax: no look-around, no back-references): ${message(error)}`
  })

/** Left: what is wrong with the pattern. */
export const compilePattern = ({ name, pattern, replacement }: PatternSource): Either.Either<CustomPattern, string> =>
  Either.flatMap(compiled(pattern), (regex) => {
    if (regex.programSize() > maxInstructions) return Either.left("is too large: its repetitions multiply one another")
    if (regex.test("")) return Either.left("must not match an empty text")
    return Either.right({
      name,
      replacement,
      find: (text, found) => {
        const matcher = regex.matcher(text)
        while (matcher.find()) {
          const start = matcher.start()
          const end = matcher.end()
          // In a stream no more is held back, and both have to find the same.
          if (end > start && end - start <= longestCustomChars) found(start, end)
        }
      }
    })
  })
