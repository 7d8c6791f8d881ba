/** Finds the words that may come next on a command line, from the tree and the shape of the command. */
import { withOutputFlags } from "../output/Format.ts"
import type { ArgumentShape, FlagShape, Shape } from "../tree/Shape.ts"
import { childOf, type CommandNode, find, type GroupNode, type TreeNode } from "../tree/Tree.ts"

/** Objects of the gateway whose names can be proposed. */
export const liveKinds = [
  "alias",
  "backup",
  "batch",
  "combo",
  "connection",
  "context",
  "file",
  "flag",
  "key",
  "memory",
  "model",
  "node",
  "plugin",
  "preset",
  "provider",
  "proxy",
  "quota group",
  "run",
  "server",
  "suite",
  "webhook"
] as const
export type LiveKind = (typeof liveKinds)[number]

export interface Candidate {
  readonly value: string
  /** Text shown beside it by shells that can; may be empty. */
  readonly summary: string
}

/** Proposals: words that are known here, names to be asked for, or names of files. */
export interface Proposal {
  readonly candidates: ReadonlyArray<Candidate>
  readonly live: ReadonlyArray<LiveKind>
  readonly files: boolean
}

const nothing: Proposal = { candidates: [], live: [], files: false }

const isLive = (name: string): name is LiveKind => liveKinds.some((kind) => kind === name)

/** Arguments and flags that are not called after the kind of what they name. */
const otherNames: Readonly<Record<string, LiveKind>> = {
  "model or label": "model",
  allow: "key",
  "api-key-id": "key",
  only: "model",
  group: "quota group"
}

/** Decides which objects a value names, by the name of its argument or flag. */
const liveOf = (name: string): ReadonlyArray<LiveKind> => {
  const word = name.replace(/^--/, "")
  const known = otherNames[word] ?? word
  return isLive(known) ? [known] : []
}

/** Arguments and flags that take a path of this machine. A plugin is installed from one, too. */
const paths: ReadonlySet<string> = new Set([
  "--body",
  "--file",
  "file",
  "path",
  "folder",
  "plugin",
  "audio",
  "config.yaml"
])

const takesFile = (name: string): boolean => paths.has(name)

const proposed = (name: string, { choices }: Pick<ArgumentShape, "choices">): Proposal => ({
  candidates: choices.map((value) => ({ value, summary: "" })),
  live: choices.length > 0 ? [] : liveOf(name),
  files: takesFile(name)
})

/**
 * Checks whether a command is proposed: all but `complete`, also those that the program's help leaves out to fit one
 * screen.
 */
const isProposed = ({ name }: TreeNode): boolean => name !== "complete"

const names = (group: GroupNode): ReadonlyArray<Candidate> =>
  group.commands.filter(isProposed).map(({ name, summary }) => ({ value: name, summary }))

/** Aliases are proposed only to who has begun to type one. */
const begun = (group: GroupNode, typed: string): ReadonlyArray<Candidate> =>
  typed === ""
    ? []
    : group.commands
        .filter((node) => isProposed(node) && !node.name.startsWith(typed))
        .flatMap(({ aliases, summary }) => aliases.map((value) => ({ value, summary })))

const flagNamed = (shape: Shape, word: string): FlagShape | undefined =>
  shape.flags.find(({ aliases, name }) => name === word || aliases.includes(word))

const flagCandidates = (shape: Shape, words: ReadonlyArray<string>): ReadonlyArray<Candidate> => [
  ...shape.flags
    .filter(({ aliases, name, repeated }) => repeated || ![name, ...aliases].some((each) => words.includes(each)))
    .map(({ description, name }) => ({ value: name, summary: description })),
  { value: "--help", summary: "Explain the command." }
]

const inCommand = (shape: Shape, words: ReadonlyArray<string>, typed: string): Proposal => {
  let given = 0
  let flag: FlagShape | undefined
  for (const word of words) {
    if (flag !== undefined) flag = undefined
    else if (word.startsWith("-") && word !== "-") {
      const named = word.includes("=") ? undefined : flagNamed(shape, word)
      flag = named === undefined || named.value === null ? undefined : named
    } else given += 1
  }
  if (flag !== undefined) return proposed(flag.name, flag)
  const equals = typed.startsWith("--") ? typed.indexOf("=") : -1
  if (equals !== -1) {
    const named = flagNamed(shape, typed.slice(0, equals))
    const values = named === undefined ? nothing : proposed(named.name, named)
    return {
      ...values,
      candidates: values.candidates.map(({ summary, value }) => ({
        summary,
        value: `${typed.slice(0, equals)}=${value}`
      }))
    }
  }
  if (typed.startsWith("-")) return { ...nothing, candidates: flagCandidates(shape, words) }
  const last = shape.args.at(-1)
  const argument = shape.args[given] ?? (last?.repeated === true ? last : undefined)
  return argument === undefined ? nothing : proposed(argument.name, argument)
}

/** The command whose flags and arguments count here; null where only commands can come. */
const commandAt = (node: TreeNode): CommandNode | null => {
  if (node.kind === "command") return node
  const child = node.otherwise === undefined ? null : childOf(node, node.otherwise.name)
  return child?.kind === "command" ? child : null
}

/**
 * Proposes the words that fit at the end of a command line. `words` come after `gateway`; the last one is being typed
 * and may be empty. `shapeOf` gives the flags and arguments of a command.
 */
export const propose = async (
  root: GroupNode,
  words: ReadonlyArray<string>,
  shapeOf: (node: CommandNode) => Promise<Shape>
): Promise<Proposal> => {
  const typed = words.at(-1) ?? ""
  const before = words.slice(0, -1)
  const { node, path, rest } = find(root, before)
  if (path[0] === "help") {
    const under = find(root, rest).node
    return under.kind === "group" ? { ...nothing, candidates: names(under) } : nothing
  }
  const command = commandAt(node)
  const shape = command === null ? null : await shapeOf(command)
  const whole = shape === null || command === null || command.prints === false ? shape : withOutputFlags(shape)
  const ofCommand = whole === null ? nothing : inCommand(whole, rest, typed)
  if (node.kind === "command" || rest.length > 0) return ofCommand
  const takesWords = node.otherwise?.takesWords === true
  return {
    candidates: [
      ...(typed.startsWith("-") ? ofCommand.candidates : [...names(node), ...begun(node, typed)]),
      ...(typed.startsWith("-") && whole === null ? [{ value: "--help", summary: "Explain the commands." }] : [])
    ],
    live: takesWords ? ofCommand.live : [],
    files: false
  }
}

/** The candidates that begin with what was typed, each once. */
export const matching = (candidates: ReadonlyArray<Candidate>, typed: string): ReadonlyArray<Candidate> => {
  const seen = new Set<string>()
  return candidates.filter(({ value }) => {
    if (!value.startsWith(typed) || seen.has(value)) return false
    seen.add(value)
    return true
  })
}
