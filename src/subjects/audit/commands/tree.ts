/** The command about who changed what. */
import { command } from "../../../cli/tree/Tree.ts"

export const audit = command(
  "audit",
  "List who changed what.",
  () => import("./list.ts"),
  (m) => m.auditCommand,
  // The help of the program fits one screen without it.
  {
    section: "Watch",
    hidden: true,
    examples: ["audit --since 2h", "audit --action 'auth.*' --status failure", "audit --actor 'apiKey:*' --json"]
  }
)
