/** Agent skills: pages that tell an agent how to use and operate the gateway (docs/skills.md). */

/** About the routes of the service; the area is the id without `gw-`. */
export const apiSkillIds = [
  "gw-auth",
  "gw-providers",
  "gw-models",
  "gw-combos-routing",
  "gw-api-keys",
  "gw-usage-logs",
  "gw-budget",
  "gw-settings",
  "gw-proxies",
  "gw-cache",
  "gw-compression",
  "gw-context-rtk",
  "gw-resilience",
  "gw-cli-tools",
  "gw-tunnels",
  "gw-sync-cloud",
  "gw-db-backups",
  "gw-webhooks",
  "gw-mcp",
  "gw-agents-a2a",
  "gw-version-manager",
  "gw-inference"
] as const

/** About the command line; the area is the id. */
export const commandSkillIds = [
  "cli-serve",
  "cli-health",
  "cli-providers",
  "cli-keys",
  "cli-models",
  "cli-chat",
  "cli-routing",
  "cli-resilience",
  "cli-compression",
  "cli-contexts",
  "cli-cost-usage",
  "cli-mcp",
  "cli-a2a",
  "cli-tunnel",
  "cli-backup-sync",
  "cli-policy-audit",
  "cli-batches",
  "cli-eval",
  "cli-plugins-skills",
  "cli-setup"
] as const

export type ApiSkillId = (typeof apiSkillIds)[number]
export type CommandSkillId = (typeof commandSkillIds)[number]
export type SkillId = ApiSkillId | CommandSkillId

export const skillIds: ReadonlyArray<SkillId> = [...apiSkillIds, ...commandSkillIds]

export const isSkillId = (text: string): text is SkillId => (skillIds as ReadonlyArray<string>).includes(text)

export type SkillCategory = "api" | "cli"

export const categoryOf = (id: SkillId): SkillCategory => (id.startsWith("gw-") ? "api" : "cli")

export const areaOf = (id: SkillId): string => id.replace(/^gw-/, "")
