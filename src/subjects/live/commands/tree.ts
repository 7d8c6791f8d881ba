/** The commands about what happens now. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"

const fromWatch = from(() => import("./watch.ts"))
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

const watch = fromWatch("watch", "watch", "Show what happens in the gateway, as it happens.", {
  section: "Watch",
  skill: "cli-cost-usage",
  // The help of the program fits one screen without it.
  hidden: true,
  aliases: ["events"],
  examples: ["watch", "watch requests stats", "watch config jobs --json", "watch health --events 1 --json"]
})

export const commands: ReadonlyArray<TreeNode> = [requests, watch]
