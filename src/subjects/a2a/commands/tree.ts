/** `gateway a2a`. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"

const fromShow = from(() => import("./show.ts"))

const a2a = group(
  "a2a",
  "The gateway's agent for other agents (A2A).",
  [
    fromShow("status", "a2aStatus", "Show whether the agent is on, and its tasks.", {
      examples: ["a2a status", "a2a status --json"]
    }),
    fromShow("card", "a2aCard", "Print the card by which other agents find it.", { examples: ["a2a card"] })
  ],
  {
    section: "Use",
    skill: "cli-a2a",
    besides: true,
    otherwise: { name: "status", takesWords: false },
    examples: ["a2a status", "a2a card"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [a2a]
