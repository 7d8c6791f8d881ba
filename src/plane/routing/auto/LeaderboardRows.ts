/** A leaderboard as it is fetched and kept: one row per model pattern, [0, 1] for each task it says something of. Pure. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Schema from "effect/Schema"
import { type FitnessOverride, mostOverrides } from "./Leaderboard.ts"

const value = Schema.optionalWith(Schema.Number.pipe(Schema.between(0, 1)), { exact: true })

const tasks = {
  coding: value,
  review: value,
  planning: value,
  analysis: value,
  debugging: value,
  documentation: value,
  default: value
}

/** `model` is a name without its path; `*` stands for anything. */
const Row = Schema.Struct({
  model: Schema.Trim.pipe(Schema.minLength(1), Schema.maxLength(200)),
  ...tasks
})

export const Rows = Schema.Array(Row).pipe(Schema.maxItems(mostOverrides))
export type Rows = typeof Rows.Type

const taskNames = ["coding", "review", "planning", "analysis", "debugging", "documentation", "default"] as const

export const overridesOf = (rows: Rows): ReadonlyArray<FitnessOverride> =>
  rows.flatMap((row) =>
    taskNames.flatMap((task) => {
      const fitness = row[task]
      return fitness === undefined ? [] : [{ pattern: row.model, task, fitness }]
    })
  )

const decode = (stored: unknown) => Schema.decodeUnknownEither(Rows)(stored)

const json = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Fit for one line of a log: the text comes from outside. */
const forLog = (text: string): string =>
  text
    .replaceAll(/[^\x20-\x7e]+/g, " ")
    .trim()
    .slice(0, 200)

/** The rows, or why there are none: one wrong value, and nothing is believed. */
export const readRows = (text: string): Either.Either<Rows, string> => {
  const parsed = json(text)
  if (parsed === undefined) return Either.left("it is not JSON")
  const decoded = decode(parsed)
  if (Either.isLeft(decoded)) {
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(decoded.left)
    return Either.left(
      forLog(issue === undefined ? "it has another shape" : `${issue.path.join(".")}: ${issue.message}`)
    )
  }
  return overridesOf(decoded.right).length > mostOverrides
    ? Either.left(`it holds more than ${mostOverrides} values`)
    : Either.right(decoded.right)
}
