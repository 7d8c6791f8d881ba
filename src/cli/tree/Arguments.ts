/** Sorts the words after a command's name into flags and arguments, and says what is wrong with them. */
import * as Either from "effect/Either"
import { BadArgument } from "../Failure.ts"
import { didYouMean, near } from "./Near.ts"
import type { FlagShape, Shape } from "./Shape.ts"

export interface ParsedWords {
  readonly flags: ReadonlyArray<{ readonly name: string; readonly value: string | null }>
  readonly args: ReadonlyArray<string>
}

/** Writes a command as it is typed, on one line. */
export const usageOf = ({ args, flags }: Shape, command: string): string =>
  [
    `gateway ${command}`,
    ...args.map(({ name, repeated, required }) => {
      const words = `<${name}>${repeated ? "…" : ""}`
      return required ? words : `[${words}]`
    }),
    ...flags.filter(({ required }) => required).map(({ name, value }) => `${name} <${value ?? ""}>`),
    ...(flags.every(({ required }) => required) ? [] : ["[flags]"])
  ].join(" ")

/** A letter may have two dashes, too, as in `--n 3`. */
const named = (flags: ReadonlyArray<FlagShape>, word: string): FlagShape | undefined => {
  const short = /^--[a-z]$/i.test(word) ? word.slice(1) : word
  return flags.find(({ aliases, name }) => name === word || aliases.includes(word) || aliases.includes(short))
}

const kinds: Readonly<Record<string, { readonly pattern: RegExp; readonly words: string }>> = {
  integer: { pattern: /^[+-]?\d{1,15}$/, words: "a whole number" },
  float: { pattern: /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i, words: "a number" }
}

/** Describes the problem of a flag's value; null when there is none that shows before the command runs. */
const problemOf = ({ choices, name, value }: FlagShape, given: string): string | null => {
  if (choices.length > 0 && !choices.includes(given)) return `${name}: '${given}' is none of ${choices.join(", ")}.`
  const kind = kinds[value ?? ""]
  return kind === undefined || kind.pattern.test(given) ? null : `${name}: '${given}' is not ${kind.words}.`
}

/** `command` is the path of the command as people type it. */
export const sortWords = (
  shape: Shape,
  words: ReadonlyArray<string>,
  command: string
): Either.Either<ParsedWords, BadArgument> => {
  const wrong = (message: string, hint = `Usage: ${usageOf(shape, command)}`) =>
    Either.left(new BadArgument({ message, hint }))
  const seeHelp = `See 'gateway ${command} --help'.`
  const flags: Array<ParsedWords["flags"][number]> = []
  const args: Array<string> = []
  for (let i = 0; i < words.length; i++) {
    const word = words[i] ?? ""
    if (word === "--") {
      args.push(...words.slice(i + 1))
      break
    }
    // A lone dash stands for standard input.
    if (!word.startsWith("-") || word === "-") {
      args.push(word)
      continue
    }
    const equals = word.startsWith("--") ? word.indexOf("=") : -1
    const typed = equals === -1 ? word : word.slice(0, equals)
    const flag = named(shape.flags, typed)
    if (flag === undefined) {
      const proposed = near(
        typed,
        shape.flags.map(({ name }) => name)
      )
      return wrong(`'gateway ${command}' has no flag '${typed}'.`, didYouMean(proposed) ?? seeHelp)
    }
    if (!flag.repeated && flags.some(({ name }) => name === flag.name)) return wrong(`${flag.name} is given twice.`)
    if (flag.value === null) {
      if (equals !== -1) return wrong(`${flag.name} takes no value.`)
      flags.push({ name: flag.name, value: null })
      continue
    }
    const next = equals === -1 ? words[++i] : word.slice(equals + 1)
    if (next === undefined || (equals === -1 && named(shape.flags, next) !== undefined)) {
      return wrong(`${flag.name} needs a value.`)
    }
    const problem = problemOf(flag, next)
    if (problem !== null) return wrong(problem, didYouMean(near(next, flag.choices)) ?? seeHelp)
    flags.push({ name: flag.name, value: next })
  }
  const badChoice = shape.args.findIndex(({ choices }, at) => {
    const given = args[at]
    return given !== undefined && choices.length > 0 && !choices.includes(given)
  })
  const bad = shape.args[badChoice]
  if (bad !== undefined) {
    const given = args[badChoice] ?? ""
    return wrong(
      `<${bad.name}>: '${given}' is none of ${bad.choices.join(", ")}.`,
      didYouMean(near(given, bad.choices)) ?? seeHelp
    )
  }
  const missing = shape.args.filter(({ required }) => required)[args.length]
  if (missing !== undefined) return wrong(`<${missing.name}> is missing.`)
  if (args.length > shape.args.length && !shape.args.some(({ repeated }) => repeated)) {
    return wrong(`'${args[shape.args.length] ?? ""}' is one word too many.`)
  }
  const absent = shape.flags.find(({ name, required }) => required && !flags.some((flag) => flag.name === name))
  if (absent !== undefined) return wrong(`${absent.name} is missing.`)
  return Either.right({ flags, args })
}
