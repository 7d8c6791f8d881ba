/** Finds the command that words name, and runs it. */
import * as Console from "effect/Console"
import * as Effect from "effect/Effect"
import { version } from "../platform/Version.ts"
import { CommonFlags, leadingFlags, takeCommon, withCommonFlags } from "./flags/CommonFlags.ts"
import { showHelp } from "./help/show.ts"
import { loadModule } from "./lazy.ts"
import { oldFlagProblem } from "./flags/oldFlags.ts"
import { OutputFormat, takeFormat, withOutputFlags } from "./output/Format.ts"
import type { Shape } from "./tree/Shape.ts"
import { childOf, type CommandNode, find, type Found, type GroupNode } from "./tree/Tree.ts"
import { sortWords } from "./tree/Arguments.ts"
import { wrongCommand } from "./tree/Wrong.ts"

const beforeDashes = (words: ReadonlyArray<string>): ReadonlyArray<string> => {
  const at = words.indexOf("--")
  return at === -1 ? words : words.slice(0, at)
}

const asksForHelp = (words: ReadonlyArray<string>): boolean =>
  beforeDashes(words).some((word) => word === "--help" || word === "-h")

const asksForVersion = ([first]: ReadonlyArray<string>): boolean =>
  first === "--version" || first === "-v" || first === "-V"

/** The command that runs when a group is named and none of its commands; null when there is none. */
const otherwise = ({ node, path, rest }: Found): (Found & { readonly node: CommandNode }) | null => {
  if (node.kind === "command") return { node, path, rest }
  if (node.otherwise === undefined) return null
  const child = childOf(node, node.otherwise.name)
  const [next] = rest
  const fits = next === undefined || next.startsWith("-") || node.otherwise.takesWords
  return fits && child?.kind === "command" ? { node: child, path: [...path, child.name], rest } : null
}

/** The version, where the command has no such flag itself. */
const isForVersion = ({ flags }: Shape, words: ReadonlyArray<string>): boolean =>
  beforeDashes(words).includes("--version") && !flags.some(({ name }) => name === "--version")

const runCommand = Effect.fnUntraced(function* ({ node, path, rest }: Found & { readonly node: CommandNode }) {
  const leaf = yield* loadModule(node.load)
  if (isForVersion(leaf.shape, rest)) return yield* Console.log(version)
  const shape = withCommonFlags(withOutputFlags(leaf.shape))
  const sorted = yield* Effect.flatMap(sortWords(shape, rest, path.join(" ")), takeFormat)
  const { format } = sorted
  const { common, words } = yield* takeCommon(leaf.shape, sorted.words)
  // A command that still has a flag of its own for it.
  const json = leaf.shape.flags.some(({ name }) => name === "--json") && (format === "json" || format === "jsonl")
  yield* leaf
    .run(json ? { ...words, flags: [...words.flags, { name: "--json", value: null }] } : words)
    .pipe(Effect.provideService(OutputFormat, format), Effect.provideService(CommonFlags, common))
})

/** Runs one command, or shows help. `words` are what was typed after `gateway`. */
export const dispatch = Effect.fn("cli.dispatch")(function* (root: GroupNode, words: ReadonlyArray<string>) {
  const problem = oldFlagProblem(words)
  if (problem !== null) return yield* problem
  const leading = leadingFlags(words)
  const named = find(root, leading?.rest ?? words)
  // Flags that are before the name of a command are those of the command.
  const found = leading === null ? named : { ...named, rest: [...leading.flags, ...named.rest] }
  if (found.node === root && asksForVersion(found.rest)) return yield* Console.log(version)
  if (asksForHelp(found.rest)) {
    const [next = ""] = found.rest
    const isWrong = found.node.kind === "group" && !next.startsWith("-") && otherwise(found) === null
    return yield* isWrong ? wrongCommand(root, found) : showHelp(root, found)
  }
  const chosen = otherwise(found)
  if (chosen !== null) return yield* runCommand(chosen)
  if (found.rest.length === 0) return yield* showHelp(root, found)
  return yield* wrongCommand(root, found)
})
