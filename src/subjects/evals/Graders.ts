/** Checks whether an answer is as a case expects. Pure; every step is linear in the answer's length. */
import * as Either from "effect/Either"
import type { EvalCase } from "./entity.ts"
import { compileLinear, stepsOf } from "../../kernel/text/LinearPattern.ts"
import { isEqual } from "../../wire/json/isEqual.ts"
import { isArray, isObject, type Json, parseJson } from "../../wire/json/Json.ts"

/** Null: it passes; else why not. Reasons quote nothing of the answer. */
export type Grader = (answer: string) => string | null

/** Characters of an expected text. */
export const maxExpectedChars = 4_000
/** Characters of a regular expression: what it is compiled to grows with it. */
export const maxPatternChars = 1_000

/** Steps of a regular expression that one answer may take: some 100 ms at worst. */
export const maxGradingSteps = 6_000_000

const shownChars = 100
const shown = (text: string): string => (text.length > shownChars ? `${text.slice(0, shownChars)}…` : text)

/** Models like to put JSON into a fence, as asked or not. */
const unfenced = (answer: string): string => {
  const text = answer.trim()
  if (!text.startsWith("```") || !text.endsWith("```")) return text
  const begin = text.indexOf("\n")
  return begin === -1 ? text : text.slice(begin + 1, -3)
}

/** A text may be the JSON itself, as it is written in a form. */
const expectedJson = (value: unknown): Json => {
  const written = typeof value === "string" ? parseJson(value) : undefined
  return isObject(written) || isArray(written) ? written : (value as Json)
}

const jsonGrader = (value: unknown): Grader => {
  const expected = expectedJson(value)
  return (answer) => {
    const given = parseJson(unfenced(answer))
    if (given === undefined) return "The answer is not JSON."
    return isEqual(given, expected) ? null : "The answer is JSON, but not the expected value."
  }
}

const regexGrader = (pattern: string): Either.Either<Grader, string> =>
  Either.map(compileLinear(pattern), (compiled) => (answer: string) => {
    if (stepsOf(compiled, answer) > maxGradingSteps)
      return `The answer is too long to look for /${shown(pattern)}/ in it.`
    return compiled.regex.test(answer) ? null : `The answer does not match /${shown(pattern)}/.`
  })

const textGrader = (strategy: "exact" | "contains", value: string): Grader => {
  const expected = value.trim()
  if (strategy === "exact") {
    return (answer) => (answer.trim() === expected ? null : `The answer is not exactly '${shown(expected)}'.`)
  }
  const lower = expected.toLowerCase()
  return (answer) => (answer.toLowerCase().includes(lower) ? null : `The answer does not contain '${shown(expected)}'.`)
}

/** Makes the grader. Left: the problem of the value. */
export const graderOf = ({ strategy, value }: EvalCase["expected"]): Either.Either<Grader, string> => {
  if (strategy === "json") {
    return value === undefined ? Either.left("is missing") : Either.right(jsonGrader(value))
  }
  if (typeof value !== "string") return Either.left(`must be a text for the strategy '${strategy}'`)
  const most = strategy === "regex" ? maxPatternChars : maxExpectedChars
  if (value.length > most) return Either.left(`must have at most ${most} characters`)
  if (value.trim() === "") return Either.left("must not be empty")
  return strategy === "regex" ? regexGrader(value) : Either.right(textGrader(strategy, value))
}
