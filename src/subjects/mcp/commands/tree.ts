/** `gateway mcp`. */
import { type TreeNode, from, group } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const fromShow = from(() => import("./show.ts"))
const fromCall = from(() => import("./call.ts"))
const fromChange = from(() => import("./change.ts"))
const fromServers = from(() => import("./servers.ts"))
const fromStdio = from(() => import("./stdio.ts"))

const mcp = group(
  "mcp",
  "The MCP server, by which agents use the gateway; see skills and a2a.",
  [
    fromShow("status", "mcpStatus", "Show whether the server is on, and what was called.", {
      examples: ["mcp status", "mcp status --json"]
    }),
    fromShow("restart", "mcpRestart", "End all sessions, and begin anew with the added servers.", {
      examples: ["mcp restart"]
    }),
    fromShow("tools", "mcpTools", "List its tools and those of added servers, and what a key needs.", {
      examples: ["mcp tools", "mcp tools --json"]
    }),
    fromCall("call", "mcpCall", "Call a tool, the gateway's own or one of an added server.", {
      examples: ["mcp call gateway_get_health", `mcp call docs__search '{"query":"limits"}'`]
    }),
    fromChange("add", "mcpAdd", "Offer the tools of an MCP server beside the gateway's own.", {
      ...add,
      examples: [
        "mcp add docs https://mcp.example.com/mcp",
        "mcp add docs https://mcp.example.com/mcp --header-stdin < headers.txt",
        "mcp add files --stdio -- /usr/local/bin/mcp-server-files /srv/files"
      ]
    }),
    fromServers("list", "mcpList", "List the added servers, and what state each is in.", {
      ...list,
      aliases: ["ls", "servers"],
      examples: ["mcp list", "mcp list --json"]
    }),
    fromServers("show", "mcpShow", "Show an added server; its secrets are not shown.", {
      aliases: ["get"],
      examples: ["mcp show docs"]
    }),
    fromServers("test", "mcpTest", "Connect to an added server now, and list its tools.", {
      examples: ["mcp test docs"]
    }),
    fromChange("edit", "mcpEdit", "Change an added server: URL, headers, environment, tools, keys.", {
      aliases: ["update", "set"],
      examples: ["mcp edit docs --timeout 60000", "mcp edit docs --tool 'search*'"]
    }),
    fromServers("enable", "mcpEnable", "Offer the tools of an added server again.", { examples: ["mcp enable docs"] }),
    fromServers("disable", "mcpDisable", "Keep an added server, but offer none of its tools.", {
      examples: ["mcp disable docs"]
    }),
    fromServers("remove", "mcpRemove", "Remove an added server.", { ...remove, examples: ["mcp remove docs"] }),
    fromShow("audit", "mcpAudit", "List the last calls of its tools.", { examples: ["mcp audit", "mcp audit --json"] }),
    fromStdio("serve", "mcpServe", "Speak MCP over standard input and output; the same as 'gateway --mcp'.", {
      prints: false,
      examples: ["mcp serve", "mcp serve --url https://gateway.example"]
    })
  ],
  {
    section: "Use",
    skill: "cli-mcp",
    otherwise: { name: "status", takesWords: false },
    examples: ["mcp tools", "mcp add docs https://mcp.example.com/mcp", "mcp serve"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [mcp]
