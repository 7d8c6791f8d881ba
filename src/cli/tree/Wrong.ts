/** The answer to a word that is no command, at the level where it is. */
import { BadArgument } from "../Failure.ts"
import { childOf, type Found, type GroupNode, namesIn, type TreeNode } from "./Tree.ts"
import { didYouMean, near } from "./Near.ts"

/** The paths of commands of that name further down, such as `key add` for `add`. */
const elsewhere = (group: GroupNode, word: string, path: ReadonlyArray<string>): ReadonlyArray<string> =>
  group.commands.flatMap((node: TreeNode): ReadonlyArray<string> => {
    if (node.hidden === true) return []
    const here = [...path, node.name]
    const isIt = path.length > 0 && (node.name === word || node.aliases.includes(word))
    return [...(isIt ? [here.join(" ")] : []), ...(node.kind === "group" ? elsewhere(node, word, here) : [])]
  })

const mostShown = 5

export const wrongCommand = (root: GroupNode, { node, path, rest }: Found): BadArgument => {
  const word = rest[0] ?? ""
  const typed = ["gateway", ...path].join(" ")
  if (node.kind === "command") return new BadArgument({ message: `'${typed}' has no commands, such as '${word}'.` })
  const proposed = [...new Set(near(word, namesIn(node)).map((each) => childOf(node, each)?.name ?? each))]
  const further = proposed.length === 0 && node === root ? elsewhere(root, word, []).slice(0, mostShown) : []
  return new BadArgument({
    message: node === root ? `'${word}' is not a command.` : `'${typed}' has no command '${word}'.`,
    hint:
      didYouMean(proposed.length > 0 ? proposed : further) ??
      `See 'gateway help${path.map((each) => ` ${each}`).join("")}'.`
  })
}
