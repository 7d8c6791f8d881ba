/** The commands about what happens now. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"

const fromRunning = from(() => import("./running.ts"))

const requests = group(
  "requests",
  "The requests that are under way.",
  [
    fromRunning("running", "requestsRunning", "List the requests under way: how old, whose, and what they wait for.", {
      aliases: ["list"],
      examples: ["requests running", "requests running --json"]
    })
  ],
  {
    section: "Watch",
    skill: "cli-cost-usage",
    // The help of the program fits one screen without it.
    hidden: true,
    aliases: ["request"],
    otherwise: { name: "running", takesWords: false },
    examples: ["requests running"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [requests]
