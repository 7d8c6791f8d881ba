/** `gateway mcp`. */
import { command, group, type TreeNode } from "../../../cli/tree/Tree.ts"
import { add, list, remove } from "../../../cli/tree/verbs.ts"

const mcp = group(
  "mcp",
  "The MCP server, by which agents use the gateway; see skills and a2a.",
  [
    command(
      "status",
      "Show whether the server is on, and what was called.",
      () => import("./show.ts"),
      (m) => m.mcpStatus,
      { examples: ["mcp status", "mcp status --json"] }
    ),
    command(
      "restart",
      "End all sessions, and begin anew with the added servers.",
      () => import("./show.ts"),
      (m) => m.mcpRestart,
      { examples: ["mcp restart"] }
    ),
    command(
      "tools",
      "List its tools and those of added servers, and what a key needs.",
      () => import("./show.ts"),
      (m) => m.mcpTools,
      { examples: ["mcp tools", "mcp tools --json"] }
    ),
    command(
      "call",
      "Call a tool, the gateway's own or one of an added server.",
      () => import("./call.ts"),
      (m) => m.mcpCall,
      { examples: ["mcp call gateway_get_health", `mcp call docs__search '{"query":"limits"}'`] }
    ),
    command(
      "add",
      "Offer the tools of an MCP server beside the gateway's own.",
      () => import("./change.ts"),
      (m) => m.mcpAdd,
      {
        ...add,
        examples: [
          "mcp add docs https://mcp.example.com/mcp",
          "mcp add docs https://mcp.example.com/mcp --header-stdin < headers.txt",
          "mcp add files --stdio -- /usr/local/bin/mcp-server-files /srv/files"
        ]
      }
    ),
    command(
      "list",
      "List the added servers, and what state each is in.",
      () => import("./servers.ts"),
      (m) => m.mcpList,
      { ...list, aliases: ["ls", "servers"], examples: ["mcp list", "mcp list --json"] }
    ),
    command(
      "show",
      "Show an added server; its secrets are not shown.",
      () => import("./servers.ts"),
      (m) => m.mcpShow,
      { aliases: ["get"], examples: ["mcp show docs"] }
    ),
    command(
      "test",
      "Connect to an added server now, and list its tools.",
      () => import("./servers.ts"),
      (m) => m.mcpTest,
      { examples: ["mcp test docs"] }
    ),
    command(
      "edit",
      "Change an added server: URL, headers, environment, tools, keys.",
      () => import("./change.ts"),
      (m) => m.mcpEdit,
      { aliases: ["update", "set"], examples: ["mcp edit docs --timeout 60000", "mcp edit docs --tool 'search*'"] }
    ),
    command(
      "enable",
      "Offer the tools of an added server again.",
      () => import("./servers.ts"),
      (m) => m.mcpEnable,
      { examples: ["mcp enable docs"] }
    ),
    command(
      "disable",
      "Keep an added server, but offer none of its tools.",
      () => import("./servers.ts"),
      (m) => m.mcpDisable,
      { examples: ["mcp disable docs"] }
    ),
    command(
      "remove",
      "Remove an added server.",
      () => import("./servers.ts"),
      (m) => m.mcpRemove,
      { ...remove, examples: ["mcp remove docs"] }
    ),
    command(
      "audit",
      "List the last calls of its tools.",
      () => import("./show.ts"),
      (m) => m.mcpAudit,
      { examples: ["mcp audit", "mcp audit --json"] }
    ),
    command(
      "serve",
      "Speak MCP over standard input and output; the same as 'gateway --mcp'.",
      () => import("./stdio.ts"),
      (m) => m.mcpServe,
      { prints: false, examples: ["mcp serve", "mcp serve --url https://gateway.example"] }
    )
  ],
  {
    section: "Use",
    skill: "cli-mcp",
    otherwise: { name: "status", takesWords: false },
    examples: ["mcp tools", "mcp add docs https://mcp.example.com/mcp", "mcp serve"]
  }
)

export const commands: ReadonlyArray<TreeNode> = [mcp]
