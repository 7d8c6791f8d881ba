/**
 * The tree of commands. Names, summaries and examples are plain values, so that help and "did you mean" cost nothing;
 * the module of a command, which has its flags, its arguments and what it does, is imported only when it is needed.
 */
import type * as Command from "@effect/cli/Command"
import type { CommandSkillId } from "../../subjects/skills/entity.ts"
import type { CliServices, Leaf } from "./Leaf.ts"

/** Headings of the help of the program, in the order they are shown. */
export const sections = ["Start", "Use", "Connect", "Route", "Watch", "Settings", "More"] as const
export type Section = (typeof sections)[number]

interface Named {
  readonly name: string
  /** Other names that are accepted in its place. */
  readonly aliases: ReadonlyArray<string>
  /** One line without markup, at most 72 characters. */
  readonly summary: string
  /** Lines to copy, without the word `gateway`. */
  readonly examples: ReadonlyArray<string>
  /** Words that a flag takes, with what each is for: a list of its own in the help of a command. */
  readonly terms?: { readonly heading: string; readonly lines: ReadonlyArray<readonly [term: string, words: string]> }
  /** Section of help, only for commands of the first level. */
  readonly section?: Section
  /** Skill whose page describes it, only for commands of the first level. */
  readonly skill?: CommandSkillId
  /** True when it is not shown in help and completion. */
  readonly hidden?: true
  /** Named by the summary of another command: the help of the program, whose lines are few, has none for it. */
  readonly besides?: true
}

export interface CommandNode extends Named {
  readonly kind: "command"
  /** False when it has no result to print, and so no format to choose. */
  readonly prints?: false
  readonly load: () => Promise<Leaf>
}

export interface GroupNode extends Named {
  readonly kind: "group"
  readonly commands: ReadonlyArray<TreeNode>
  /** Name of the command that runs when none is named. With `takesWords` also when the next word is none of the commands. */
  readonly otherwise?: { readonly name: string; readonly takesWords: boolean }
}

export type TreeNode = CommandNode | GroupNode

type Description = Partial<Omit<Named, "name" | "summary">>

/** A command: its summary, and where its module is. */
export const command = <Module, Name extends string, R extends CliServices, E, A>(
  name: string,
  summary: string,
  load: () => Promise<Module>,
  pick: (module: Module) => Command.Command<Name, R, E, A>,
  description: Description & Pick<CommandNode, "prints"> = {}
): CommandNode => ({
  kind: "command",
  name,
  summary,
  aliases: [],
  examples: [],
  ...description,
  load: async () => {
    const [module, { toLeaf }] = await Promise.all([load(), import("./Leaf.ts")])
    return toLeaf(pick(module))
  }
})

/** Names of a module's exports that are commands. */
type CommandsIn<Module> = {
  [Key in keyof Module]: Module[Key] extends Command.Command<
    infer _Name,
    infer _R extends CliServices,
    infer _E,
    infer _A
  >
    ? Key
    : never
}[keyof Module]

/** Commands that stand in one module: the name of each, its export there, and its summary. */
export const from =
  <Module>(load: () => Promise<Module>) =>
  (
    name: string,
    exported: CommandsIn<Module>,
    summary: string,
    description: Description & Pick<CommandNode, "prints"> = {}
  ): CommandNode =>
    command(
      name,
      summary,
      load,
      (module) => module[exported] as Command.Command<string, CliServices, unknown, unknown>,
      description
    )

/** A command that has commands. */
export const group = (
  name: string,
  summary: string,
  commands: ReadonlyArray<TreeNode>,
  description: Description & Pick<GroupNode, "otherwise"> = {}
): GroupNode => ({ kind: "group", name, summary, aliases: [], examples: [], ...description, commands })

/** The command with this name or alias. */
export const childOf = (group: GroupNode, word: string): TreeNode | null =>
  group.commands.find(({ aliases, name }) => name === word || aliases.includes(word)) ?? null

/** The names that people may type here, aliases included. */
export const namesIn = (group: GroupNode): ReadonlyArray<string> =>
  group.commands.filter(({ hidden }) => hidden !== true).flatMap(({ aliases, name }) => [name].concat(aliases))

export interface Found {
  readonly node: TreeNode
  /** Names on the way from the root, which is not among them; aliases are replaced by the names. */
  readonly path: ReadonlyArray<string>
  /** Words that were not a name. */
  readonly rest: ReadonlyArray<string>
}

/** Follows words down the tree as far as they are names. */
export const find = (root: GroupNode, words: ReadonlyArray<string>): Found => {
  let node: TreeNode = root
  const path: Array<string> = []
  for (const word of words) {
    const next: TreeNode | null = node.kind === "group" ? childOf(node, word) : null
    if (next === null) break
    node = next
    path.push(next.name)
  }
  return { node, path, rest: words.slice(path.length) }
}
