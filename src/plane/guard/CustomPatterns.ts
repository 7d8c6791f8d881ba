/** Patterns of the operator's own (`LinearPattern.ts`); what costs too much is refused when it is saved. Pure. */
import * as Either from "effect/Either"
import { compileLinear } from "../../kernel/text/LinearPattern.ts"
import { type CustomPattern, longestCustomChars } from "./Detectors.ts"

export interface PatternSource {
  readonly name: string
  readonly pattern: string
  readonly replacement: string
}

/** Characters of a pattern: what it is compiled to grows with it. */
export const maxPatternChars = 500

/** Earlier versions have stored patterns that cost more: they still act. */
export const maxStoredSteps = 2_000

/** Compiles a pattern. Left: its problem. */
export const compilePattern = (
  { name, pattern, replacement }: PatternSource,
  mostSteps?: number
): Either.Either<CustomPattern, string> =>
  Either.flatMap(compileLinear(pattern, mostSteps), ({ regex, steps }) => {
    if (regex.test("")) return Either.left("must not match an empty text")
    return Either.right({
      name,
      replacement,
      steps,
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
