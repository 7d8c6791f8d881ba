/** `gateway a2a`. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"

const a2a = group(
  "a2a",
  "The gateway's agent for other agents (A2A).",
  [
    command(
      "status",
      "Show whether the agent is on, and its tasks.",
      () => import("./show.ts"),
      (m) => m.a2aStatus,
      { examples: ["a2a status", "a2a status --json"] }
    ),
    command(
      "card",
      "Print the card by which other agents find it.",
      () => import("./show.ts"),
      (m) => m.a2aCard,
      { examples: ["a2a card"] }
    )
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
