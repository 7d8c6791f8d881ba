/** The commands about tunnels. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromShow = from(() => import("./show.ts"))
const fromCreate = from(() => import("./create.ts"))

const tunnel = group(
  "tunnel",
  "Reach the gateway from elsewhere, without an open port.",
  [
    fromShow("list", "tunnelList", "List the tunnels: which are open, and under which address.", {
      ...list,
      examples: ["tunnel list", "tunnel list --json"]
    }),
    fromCreate("create", "tunnelCreate", "Open a tunnel. The base address for clients is printed on stdout.", {
      aliases: [...add.aliases.filter((name) => name !== "create"), "add", "open", "start"],
      examples: [
        "tunnel create quick --qr",
        "tunnel create token --auth-token-stdin < authtoken.txt",
        "tunnel create mesh",
        "tunnel create ssh me@server.example.com --remote-port 8080"
      ]
    }),
    fromShow("stop", "tunnelStop", "Close a tunnel, or all of them.", {
      aliases: ["close", "remove", ...remove.aliases],
      examples: ["tunnel stop quick", "tunnel stop --all"]
    }),
    fromShow("status", "tunnelStatus", "Show how a tunnel is; with --watch each change as it comes.", {
      aliases: ["show", "get"],
      examples: ["tunnel status", "tunnel status quick --watch"]
    })
  ],
  {
    section: "Start",
    skill: "cli-tunnel",
    besides: true,
    aliases: ["tunnels"],
    examples: ["tunnel create quick", "tunnel list"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [tunnel]
