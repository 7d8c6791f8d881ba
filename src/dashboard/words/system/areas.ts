/** Names of the areas of the system. */
export const words = {
  tunnels: "Tunnels",
  proxies: "Proxies",
  mcp: "MCP",
  agents: "Agents",
  skills: "Skills",
  tools: "Coding tools",
  evaluations: "Evaluations",
  batches: "Batches and files",
  backups: "Backups",
  sync: "Sync",
  sessions: "Sessions",
  audit: "Audit"
} as const
