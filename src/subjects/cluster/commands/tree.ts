/** The commands about several gateways on one database. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"

const fromForget = from(() => import("./forget.ts"))
const fromStatus = from(() => import("./status.ts"))

const cluster = group(
  "cluster",
  "The gateways that share a database of Postgres.",
  [
    fromStatus("status", "clusterStatus", "List them: version, when last seen, and what they have not read yet.", {
      aliases: ["list", "ls"],
      examples: ["cluster status", "cluster status --json"]
    }),
    fromForget("forget", "clusterForget", "Forget one that will not come back, and give up what it held.", {
      examples: ["cluster forget gateway-2:20128"]
    })
  ],
  {
    section: "Watch",
    skill: "cli-health",
    besides: true,
    otherwise: { name: "status", takesWords: false },
    examples: ["cluster status"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [cluster]
