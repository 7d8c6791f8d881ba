/** `gateway mcp`. */
import { command, group } from "../../tree/Tree.ts"

export const mcp = group(
  "mcp",
  "The MCP server, by which agents use the gateway; see skills and a2a.",
  [
    command(
      "status",
      "Show whether the server is on, and what was called.",
      () => import("../mcp/show.ts"),
      (m) => m.mcpStatus,
      { examples: ["mcp status", "mcp status --json"] }
    ),
    command(
      "tools",
      "List its tools, and what a key needs for each.",
      () => import("../mcp/show.ts"),
      (m) => m.mcpTools,
      { examples: ["mcp tools", "mcp tools --json"] }
    ),
    command(
      "audit",
      "List the last calls of its tools.",
      () => import("../mcp/show.ts"),
      (m) => m.mcpAudit,
      { examples: ["mcp audit", "mcp audit --json"] }
    ),
    command(
      "serve",
      "Speak MCP over standard input and output; the same as 'gateway --mcp'.",
      () => import("../mcp/stdio.ts"),
      (m) => m.mcpServe,
      { prints: false, examples: ["mcp serve", "mcp serve --url https://gateway.example"] }
    )
  ],
  {
    section: "Use",
    otherwise: { name: "status", takesWords: false },
    examples: ["mcp status", "mcp tools", "mcp serve"]
  }
)
