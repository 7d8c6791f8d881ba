/**
 * Flags that every command takes, so that scripts can give them to all: `--no-open` (no browser is opened, which `open` and `serve` do), `--port` (the
 * gateway of this machine at that port) and `--non-interactive` (nothing is asked). A command with a flag of its own of the name keeps its own.
 */
import * as Context from "effect/Context"
import * as Either from "effect/Either"
import { BadArgument } from "../Failure.ts"
import { parsePort } from "./serveOptions.ts"
import type { FlagShape, Shape } from "../tree/Shape.ts"
import type { ParsedWords } from "../tree/Arguments.ts"

interface Common {
  /** Port of the gateway on this machine that is meant; null: none is named. */
  readonly port: number | null
  /** A question is refused, as where there is no terminal. */
  readonly isSilent: boolean
  /** A browser may be opened. */
  readonly mayOpen: boolean
}

/** Flags as they were given to the command that runs. */
export class CommonFlags extends Context.Reference<CommonFlags>()("gateway/cli/flags/CommonFlags", {
  defaultValue: (): Common => ({ port: null, isSilent: false, mayOpen: true })
}) {}

const word = { aliases: [], choices: [], required: false, repeated: false }

export const commonFlags: ReadonlyArray<FlagShape> = [
  { ...word, name: "--no-open", value: null, description: "Open nothing in a browser." },
  { ...word, name: "--port", value: "port", description: "The gateway of this machine at this port." },
  { ...word, name: "--non-interactive", value: null, description: "Ask nothing." }
]

/** Lists the common flags that a command does not have itself. */
const missingIn = ({ flags }: Shape): ReadonlyArray<FlagShape> =>
  commonFlags.filter(({ name }) => !flags.some((flag) => flag.name === name || flag.aliases.includes(name)))

/** A command's flags and the common ones. */
export const withCommonFlags = (shape: Shape): Shape => ({ ...shape, flags: [...shape.flags, ...missingIn(shape)] })

/** Takes the common flags out of the words of a command; those that are the command's own (`shape`) stay. */
export const takeCommon = (
  shape: Shape,
  words: ParsedWords
): Either.Either<{ readonly common: Common; readonly words: ParsedWords }, BadArgument> => {
  const taken = new Set(missingIn(shape).map(({ name }) => name))
  const given = new Map(words.flags.map(({ name, value }) => [name, value]))
  const text = taken.has("--port") ? (given.get("--port") ?? null) : null
  const port = text === null ? null : parsePort(text)
  if (text !== null && (port === null || port === 0)) {
    return Either.left(new BadArgument({ message: `--port: '${text}' is not a port from 1 to 65535.` }))
  }
  return Either.right({
    common: { port, isSilent: given.has("--non-interactive"), mayOpen: !given.has("--no-open") },
    words: { ...words, flags: words.flags.filter(({ name }) => !taken.has(name)) }
  })
}

/** Common flags that were typed before the name of a command, and what follows them; null where no name follows. */
export const leadingFlags = (
  words: ReadonlyArray<string>
): { readonly flags: ReadonlyArray<string>; readonly rest: ReadonlyArray<string> } | null => {
  let end = 0
  while (end < words.length) {
    const [name = "", value] = (words[end] ?? "").split("=", 2)
    const flag = [...commonFlags, { name: "--json", value: null }].find((each) => each.name === name)
    if (flag === undefined) break
    end += flag.value === null || value !== undefined ? 1 : 2
  }
  const [next] = words.slice(end)
  return end === 0 || next === undefined || (next.startsWith("-") && next !== "--mcp")
    ? null
    : { flags: words.slice(0, end), rest: words.slice(end) }
}
