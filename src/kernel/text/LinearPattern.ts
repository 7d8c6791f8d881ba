/**
 * Patterns of people: RE2 expressions (no look-around, no back-references), which match in time linear in the text whatever the pattern. What a
 * match costs is bounded by the steps of the pattern for each character, so that a budget of steps bounds its time. Pure.
 */
import * as Either from "effect/Either"
import { RE2JS } from "re2js"

/** Instructions that a pattern may be compiled to: each of them may look at each character. A repetition multiplies what it repeats. */
export const maxPatternSteps = 256

/** Nanoseconds that a step takes at worst: a class of Unicode letters in a repetition with bounds. */
export const nsPerStep = 15

/** Steps that compiling takes, for each instruction. */
export const compileSteps = 400

export interface LinearPattern {
  /** Steps for each character of a text. */
  readonly steps: number
  readonly regex: RE2JS
}

/** Steps of one search through a text. */
export const stepsOf = ({ steps }: Pick<LinearPattern, "steps">, text: string): number => steps * (text.length + 1)

const words = (error: unknown): string => (error instanceof Error ? error.message : String(error)).slice(0, 200)

/** Compiles a pattern. Left: its problem. */
export const compileLinear = (source: string, mostSteps = maxPatternSteps): Either.Either<LinearPattern, string> =>
  Either.flatMap(
    Either.try({
      try: () => RE2JS.compile(source),
      catch: (error) =>
        `is not a pattern that is matched in linear time (RE2 syntax: no look-around, no back-references): ${words(error)}`
    }),
    (regex) => {
      const steps = regex.programSize()
      return steps <= mostSteps
        ? Either.right({ steps, regex })
        : Either.left(
            `costs ${steps} steps for each character of a text, and ${mostSteps} are the limit: repeat less (such as {1,50} for {1,1000})`
          )
    }
  )
