/** The command about who changed what. */
import { command, type TreeNode } from "../../../cli/tree/Tree.ts"

const audit = command(
  "audit",
  "List who changed what.",
  () => import("./list.ts"),
  (m) => m.auditCommand,
  // The help of the program fits one screen without it.
  {
    section: "Watch",
    skill: "cli-policy-audit",
    hidden: true,
    examples: ["audit --since 2h", "audit --action 'auth.*' --status failure", "audit --actor 'apiKey:*' --json"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [audit]
