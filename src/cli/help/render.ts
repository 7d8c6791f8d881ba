/** The text of help, for the whole program, a group of commands, or one command. */
import { type GroupNode, sections, type TreeNode } from "../tree/Tree.ts"
import type { ArgumentShape, FlagShape, Shape } from "../tree/Shape.ts"
import { usageOf } from "../tree/Arguments.ts"
import { examples, heading, list, type Page, wrap } from "./Page.ts"

const shown = (nodes: ReadonlyArray<TreeNode>): ReadonlyArray<TreeNode> => nodes.filter(({ hidden }) => hidden !== true)

const lineOf = ({ name, summary }: TreeNode): readonly [string, string] => [name, summary]

const typedAs = (path: ReadonlyArray<string>): string => ["gateway", ...path].join(" ")

const aliasesOf = ({ aliases }: TreeNode, path: ReadonlyArray<string>, page: Page): ReadonlyArray<string> => {
  const last = aliases.map((alias) => [...path.slice(0, -1), alias].join(" "))
  return last.length === 0 ? [] : wrap(`Also: ${last.join(", ")}`, page.width)
}

/** The commands of the program under their headings, a line each; no line more, so that a screen of 40 lines shows them all. */
export const programHelp = (root: GroupNode, page: Page): string => {
  const listed = shown(root.commands).filter(({ besides }) => besides !== true)
  const width = Math.max(...listed.map(({ name }) => name.length))
  const lines: Array<string> = []
  for (const section of sections) {
    const nodes = listed.filter((node) => (node.section ?? "More") === section)
    if (nodes.length === 0) continue
    const entries = nodes.map(({ name, summary }) => [name.padEnd(width), summary] as const)
    lines.push(heading(page, section), ...list(page, entries))
  }
  return [
    ...wrap(root.summary, page.width),
    "Usage: gateway <command> [flags]",
    "",
    ...lines,
    ...examples(page, root.examples),
    ...wrap("'gateway help <command>' explains one command. 'gateway' alone starts the gateway.", page.width)
  ].join("\n")
}

export const groupHelp = (node: GroupNode, path: ReadonlyArray<string>, page: Page): string =>
  [
    ...wrap(node.summary, page.width),
    "",
    `Usage: ${typedAs(path)} <command> [flags]`,
    ...aliasesOf(node, path, page),
    "",
    heading(page, "Commands"),
    ...list(page, shown(node.commands).map(lineOf)),
    ...examples(page, node.examples),
    "",
    ...(node.otherwise === undefined
      ? []
      : wrap(`'${typedAs(path)}' alone is '${typedAs([...path, node.otherwise.name])}'.`, page.width)),
    ...wrap(`'gateway help ${path.join(" ")} <command>' explains one command.`, page.width)
  ].join("\n")

const placeholders: Readonly<Record<string, string>> = { integer: "n", float: "n", redacted: "secret" }

const flagName = ({ aliases, choices, name, value }: FlagShape): string => {
  const names = [...aliases, name].join(", ")
  return value === null
    ? names
    : `${names} <${choices.length > 0 && value.includes("|") ? name.replace(/^--/, "") : (placeholders[value] ?? value)}>`
}

const flagText = ({ choices, description, repeated, required }: FlagShape): string =>
  [
    description,
    ...(choices.every((choice) => description.includes(choice)) ? [] : [`One of: ${choices.join(", ")}.`]),
    ...(required ? ["Needed."] : []),
    ...(repeated && !/several times/.test(description) ? ["May be given several times."] : [])
  ].join(" ")

const argumentText = ({ choices, description }: ArgumentShape): string =>
  [description, ...(choices.length === 0 ? [] : [`One of: ${choices.join(", ")}.`])].join(" ").trim()

const described = (args: ReadonlyArray<ArgumentShape>): ReadonlyArray<ArgumentShape> =>
  args.filter((each) => argumentText(each) !== "")

/** `shape` is that of the command with the flags it has from the program. */
export const commandHelp = (node: TreeNode, path: ReadonlyArray<string>, shape: Shape, page: Page): string => {
  const args = described(shape.args)
  return [
    ...wrap(node.summary, page.width),
    "",
    ...wrap(`Usage: ${usageOf(shape, path.join(" "))}`, page.width),
    ...aliasesOf(node, path, page),
    ...(args.length === 0
      ? []
      : [
          "",
          heading(page, "Arguments"),
          ...list(
            page,
            args.map((each) => [`<${each.name}>`, argumentText(each)] as const)
          )
        ]),
    ...(shape.flags.length === 0
      ? []
      : [
          "",
          heading(page, "Flags"),
          ...list(
            page,
            shape.flags.map((flag) => [flagName(flag), flagText(flag)] as const)
          )
        ]),
    ...(node.terms === undefined ? [] : ["", heading(page, node.terms.heading), ...list(page, node.terms.lines)]),
    ...examples(page, node.examples)
  ].join("\n")
}
