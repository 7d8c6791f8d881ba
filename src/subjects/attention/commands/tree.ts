/** The command about what needs a person. */
import { type TreeNode, from } from "../../../cli/tree/Tree.ts"

const fromList = from(() => import("./list.ts"))

const attention = fromList(
  "attention",
  "attentionCommand",
  "List what is wrong or soon will be; exit 1 for an error.",
  {
    section: "Watch",
    skill: "cli-health",
    // 'status' names it; the help of the program fits one screen without it.
    besides: true,
    examples: ["attention", "attention --severity error", "attention --json"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [attention]
