/** The command about who changed what. */
import { type TreeNode, from } from "../../../cli/tree/Tree.ts"

const fromList = from(() => import("./list.ts"))

const audit = fromList(
  "audit",
  "auditCommand",
  "List who changed what.",
  // The help of the program fits one screen without it.
  {
    section: "Watch",
    skill: "cli-policy-audit",
    hidden: true,
    examples: ["audit --since 2h", "audit --action 'auth.*' --status failure", "audit --actor 'apiKey:*' --json"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [audit]
