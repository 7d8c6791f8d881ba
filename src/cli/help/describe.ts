/** Description of the commands for the skills: the tree with the help of each. */
import type { CommandText } from "../../platform/CommandIndex.ts"
import { withOutputFlags } from "../output/Format.ts"
import type { GroupNode, TreeNode } from "../tree/Tree.ts"
import { commandHelp } from "./render.ts"

const page = { width: 100, bold: (text: string) => text }

const describe = async (
  node: TreeNode,
  path: ReadonlyArray<string>,
  skill: string | null
): Promise<ReadonlyArray<CommandText>> => {
  if (node.kind === "group") return within(node.commands, path, skill)
  const { shape } = await node.load()
  const help = commandHelp(node, path, node.prints === false ? shape : withOutputFlags(shape), page)
  const [text = help] = help.split("\n\nExamples\n")
  const examples = node.examples.length === 0 ? [path.join(" ")] : node.examples
  return [{ path, summary: node.summary, skill, help: text, examples }]
}

const within = async (
  nodes: ReadonlyArray<TreeNode>,
  path: ReadonlyArray<string>,
  skill: string | null
): Promise<ReadonlyArray<CommandText>> => {
  const all: Array<CommandText> = []
  for (const node of nodes) {
    // People may use the commands of a group that is not listed; a single command that is not is for completion.
    if (node.kind === "command" && node.hidden === true) continue
    all.push(...(await describe(node, [...path, node.name], node.skill ?? skill)))
  }
  return all
}

export const describeCommands = (program: GroupNode): Promise<ReadonlyArray<CommandText>> =>
  within(program.commands, [], null)
