/** The commands about egress proxies. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromShow = from(() => import("./show.ts"))
const fromChange = from(() => import("./change.ts"))
const fromAssign = from(() => import("./assign.ts"))

const proxy = group(
  "proxy",
  "Proxies that calls to providers leave by, and who uses which.",
  [
    fromShow("list", "proxyList", "List the proxies, and whether they can be reached.", {
      ...list,
      examples: ["proxy list", "proxy list --json"]
    }),
    fromChange("add", "proxyAdd", "Add a proxy. It is used once it is assigned.", {
      ...add,
      examples: [
        "proxy add socks5://proxy.example.com:1080 --name berlin",
        "proxy add http://alice@proxy.example:3128 --name office --password-stdin < pw.txt",
        "proxy add socks5://proxy.example.com --name v4 --family ipv4"
      ]
    }),
    fromAssign("assign", "proxyAssign", "Send calls of a provider, connection or key, or all, through a proxy.", {
      examples: [
        "proxy assign berlin --all",
        "proxy assign berlin --provider openai",
        "proxy assign office --connection work"
      ]
    }),
    fromAssign("unassign", "proxyUnassign", "Take an assignment back.", {
      examples: ["proxy unassign --all", "proxy unassign --provider openai"]
    }),
    fromAssign("assignments", "proxyAssignments", "List what proxies are assigned to.", {
      examples: ["proxy assignments", "proxy assignments --json"]
    }),
    fromShow("test", "proxyTest", "Fetch an address through a proxy, and show by which address it leaves.", {
      examples: ["proxy test berlin", "proxy test berlin --fetch https://example.com/"]
    }),
    fromChange("edit", "proxyEdit", "Change a proxy: address, name, family, password.", {
      aliases: ["update", "set"],
      examples: ["proxy edit berlin --family ipv6"]
    }),
    fromChange("enable", "proxyEnable", "Let a proxy be used again.", {
      examples: ["proxy enable berlin"]
    }),
    fromChange("disable", "proxyDisable", "Keep a proxy, but do not use it: its calls fail.", {
      examples: ["proxy disable berlin"]
    }),
    fromChange("remove", "proxyRemove", "Remove a proxy. Its calls fail until another is assigned, or none.", {
      ...remove,
      examples: ["proxy remove berlin"]
    }),
    fromChange("on", "proxyOn", "Use the proxy of all calls.", {
      examples: ["proxy on"]
    }),
    fromChange("off", "proxyOff", "Let calls go direct that have no proxy of their own.", {
      examples: ["proxy off"]
    }),
    fromShow("find-free", "proxyFindFree", "Read lists of free proxies, and keep those that work, unused.", {
      examples: ["proxy find-free"]
    })
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
