/** The commands about tunnels. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const tunnel = group(
  "tunnel",
  "Reach the gateway from elsewhere, without an open port.",
  [
    command(
      "list",
      "List the tunnels: which are open, and under which address.",
      () => import("./show.ts"),
      (m) => m.tunnelList,
      { ...list, examples: ["tunnel list", "tunnel list --json"] }
    ),
    command(
      "create",
      "Open a tunnel. The base address for clients is printed on stdout.",
      () => import("./create.ts"),
      (m) => m.tunnelCreate,
      {
        aliases: [...add.aliases.filter((name) => name !== "create"), "add", "open", "start"],
        examples: [
          "tunnel create quick --qr",
          "tunnel create token --auth-token-stdin < authtoken.txt",
          "tunnel create mesh",
          "tunnel create ssh me@server.example.com --remote-port 8080"
        ]
      }
    ),
    command(
      "stop",
      "Close a tunnel, or all of them.",
      () => import("./show.ts"),
      (m) => m.tunnelStop,
      { aliases: ["close", "remove", ...remove.aliases], examples: ["tunnel stop quick", "tunnel stop --all"] }
    ),
    command(
      "status",
      "Show how a tunnel is; with --watch each change as it comes.",
      () => import("./show.ts"),
      (m) => m.tunnelStatus,
      { aliases: ["show", "get"], examples: ["tunnel status", "tunnel status quick --watch"] }
    )
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
