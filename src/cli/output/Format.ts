/** The form in which a command prints its result, and the flags that choose it. They belong to every command that prints something. */
import * as Context from "effect/Context"
import * as Either from "effect/Either"
import { BadArgument } from "../Failure.ts"
import type { FlagShape, Shape } from "../tree/Shape.ts"
import type { ParsedWords } from "../tree/Arguments.ts"

export const formats = ["table", "wide", "json", "jsonl", "csv", "name"] as const
export type Format = (typeof formats)[number]

/** The format of the command that runs. */
export class OutputFormat extends Context.Reference<OutputFormat>()("gateway/cli/output/OutputFormat", {
  defaultValue: (): Format => "table"
}) {}

const word = { choices: [], required: false, repeated: false }

export const outputFlags: ReadonlyArray<FlagShape> = [
  {
    ...word,
    name: "--output",
    aliases: ["-o"],
    value: "format",
    choices: formats,
    description: "table, wide (with whole ids and all columns), json, jsonl, csv, or name (one name per line)."
  },
  { ...word, name: "--json", aliases: [], value: null, description: "The same as '-o json'." }
]

const isOutputFlag = (name: string): boolean => outputFlags.some((flag) => flag.name === name)

/** A command's flags and those of the output. */
export const withOutputFlags = (shape: Shape): Shape => ({
  ...shape,
  flags: [...shape.flags.filter(({ name }) => !isOutputFlag(name)), ...outputFlags]
})

const isFormat = (text: string | null): text is Format => formats.some((format) => format === text)

/** Takes the output flags out of the words of a command. */
export const takeFormat = (
  words: ParsedWords
): Either.Either<{ readonly format: Format; readonly words: ParsedWords }, BadArgument> => {
  const named = words.flags.find(({ name }) => name === "--output")?.value ?? null
  const json = words.flags.some(({ name }) => name === "--json")
  if (json && named !== null && named !== "json") {
    return Either.left(new BadArgument({ message: `--json and '-o ${named}' contradict each other.` }))
  }
  return Either.right({
    format: json ? "json" : isFormat(named) ? named : "table",
    words: { ...words, flags: words.flags.filter(({ name }) => !isOutputFlag(name)) }
  })
}
