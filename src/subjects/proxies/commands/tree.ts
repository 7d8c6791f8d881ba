/** The commands about egress proxies. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const proxy = group(
  "proxy",
  "Proxies that calls to providers leave by, and who uses which.",
  [
    command(
      "list",
      "List the proxies, and whether they can be reached.",
      () => import("./show.ts"),
      (m) => m.proxyList,
      { ...list, examples: ["proxy list", "proxy list --json"] }
    ),
    command(
      "add",
      "Add a proxy. It is used once it is assigned.",
      () => import("./change.ts"),
      (m) => m.proxyAdd,
      {
        ...add,
        examples: [
          "proxy add socks5://proxy.example.com:1080 --name berlin",
          "proxy add http://alice@proxy.example:3128 --name office --password-stdin < pw.txt",
          "proxy add socks5://proxy.example.com --name v4 --family ipv4"
        ]
      }
    ),
    command(
      "assign",
      "Send calls of a provider, connection or key, or all, through a proxy.",
      () => import("./assign.ts"),
      (m) => m.proxyAssign,
      {
        examples: [
          "proxy assign berlin --all",
          "proxy assign berlin --provider openai",
          "proxy assign office --connection work"
        ]
      }
    ),
    command(
      "unassign",
      "Take an assignment back.",
      () => import("./assign.ts"),
      (m) => m.proxyUnassign,
      { examples: ["proxy unassign --all", "proxy unassign --provider openai"] }
    ),
    command(
      "assignments",
      "List what proxies are assigned to.",
      () => import("./assign.ts"),
      (m) => m.proxyAssignments,
      { examples: ["proxy assignments", "proxy assignments --json"] }
    ),
    command(
      "test",
      "Fetch an address through a proxy, and show by which address it leaves.",
      () => import("./show.ts"),
      (m) => m.proxyTest,
      { examples: ["proxy test berlin", "proxy test berlin --fetch https://example.com/"] }
    ),
    command(
      "edit",
      "Change a proxy: address, name, family, password.",
      () => import("./change.ts"),
      (m) => m.proxyEdit,
      { aliases: ["update", "set"], examples: ["proxy edit berlin --family ipv6"] }
    ),
    command(
      "enable",
      "Let a proxy be used again.",
      () => import("./change.ts"),
      (m) => m.proxyEnable,
      {
        examples: ["proxy enable berlin"]
      }
    ),
    command(
      "disable",
      "Keep a proxy, but do not use it: its calls fail.",
      () => import("./change.ts"),
      (m) => m.proxyDisable,
      { examples: ["proxy disable berlin"] }
    ),
    command(
      "remove",
      "Remove a proxy. Its calls fail until another is assigned, or none.",
      () => import("./change.ts"),
      (m) => m.proxyRemove,
      { ...remove, examples: ["proxy remove berlin"] }
    ),
    command(
      "on",
      "Use the proxy of all calls.",
      () => import("./change.ts"),
      (m) => m.proxyOn,
      {
        examples: ["proxy on"]
      }
    ),
    command(
      "off",
      "Let calls go direct that have no proxy of their own.",
      () => import("./change.ts"),
      (m) => m.proxyOff,
      {
        examples: ["proxy off"]
      }
    ),
    command(
      "find-free",
      "Read lists of free proxies, and keep those that work, unused.",
      () => import("./show.ts"),
      (m) => m.proxyFindFree,
      { examples: ["proxy find-free"] }
    )
  ],
  {
    section: "Connect",
    skill: "cli-providers",
    besides: true,
    aliases: ["proxies"],
    examples: ["proxy add socks5://proxy.example.com:1080 --name berlin", "proxy assign berlin --provider openai"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [proxy]
