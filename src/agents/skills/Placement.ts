/** Decides which skill describes a route or command. A new group of routes does not compile until it has its place. */
import type { ManagementKey, ManagementRoute } from "../../contract/ManagementRoutes.ts"
import type { ApiSkillId, CommandSkillId } from "../../subjects/skills/entity.ts"

type GroupOf<Key> = Key extends `${infer Group}.${string}` ? Group : never

const groups: Readonly<Record<GroupOf<ManagementKey>, ApiSkillId>> = {
  a2a: "gw-agents-a2a",
  acp: "gw-agents-a2a",
  capture: "gw-cli-tools",
  cloud: "gw-sync-cloud",
  cliTools: "gw-cli-tools",
  agentBridge: "gw-cli-tools",
  plugins: "gw-settings",
  agentSkills: "gw-agents-a2a",
  audit: "gw-usage-logs",
  auth: "gw-auth",
  backups: "gw-db-backups",
  combos: "gw-combos-routing",
  compression: "gw-compression",
  compressionCombos: "gw-compression",
  configuration: "gw-settings",
  evals: "gw-models",
  flags: "gw-settings",
  gatewaySettings: "gw-settings",
  guardrails: "gw-settings",
  inspector: "gw-usage-logs",
  issueLimits: "gw-api-keys",
  issueReports: "gw-version-manager",
  keys: "gw-api-keys",
  limits: "gw-budget",
  live: "gw-usage-logs",
  mcp: "gw-mcp",
  mcpServers: "gw-mcp",
  memory: "gw-context-rtk",
  modelAliases: "gw-models",
  modelCatalog: "gw-models",
  oauth: "gw-auth",
  playground: "gw-models",
  policies: "gw-auth",
  pricing: "gw-models",
  providerModels: "gw-models",
  providerNodes: "gw-providers",
  providers: "gw-providers",
  proxies: "gw-proxies",
  quotaGroups: "gw-combos-routing",
  rateLimits: "gw-resilience",
  registeredKeys: "gw-api-keys",
  resilience: "gw-resilience",
  routing: "gw-combos-routing",
  routingSettings: "gw-combos-routing",
  rtk: "gw-context-rtk",
  sync: "gw-sync-cloud",
  system: "gw-version-manager",
  telemetry: "gw-usage-logs",
  tunnels: "gw-tunnels",
  usage: "gw-usage-logs",
  usageHistory: "gw-usage-logs",
  webhooks: "gw-webhooks"
}

/** Routes that are apart from their group. */
const apart: Readonly<Partial<Record<ManagementKey, ApiSkillId>>> = {
  "telemetry.caches": "gw-cache",
  "telemetry.clearCaches": "gw-cache"
}

export const skillOfRoute = ({ key }: Pick<ManagementRoute, "key">): ApiSkillId =>
  apart[key] ?? groups[key.slice(0, key.indexOf(".")) as GroupOf<ManagementKey>]

const commands: Readonly<Record<string, CommandSkillId>> = {
  a2a: "cli-a2a",
  apply: "cli-setup",
  audit: "cli-policy-audit",
  backup: "cli-backup-sync",
  batches: "cli-batches",
  budget: "cli-cost-usage",
  cache: "cli-compression",
  chat: "cli-chat",
  combo: "cli-routing",
  completion: "cli-setup",
  compression: "cli-compression",
  config: "cli-setup",
  context: "cli-contexts",
  cost: "cli-cost-usage",
  doctor: "cli-health",
  embed: "cli-chat",
  env: "cli-setup",
  eval: "cli-eval",
  export: "cli-setup",
  files: "cli-batches",
  flags: "cli-policy-audit",
  guardrails: "cli-policy-audit",
  health: "cli-health",
  help: "cli-setup",
  image: "cli-chat",
  import: "cli-setup",
  inspect: "cli-cost-usage",
  key: "cli-keys",
  login: "cli-contexts",
  logout: "cli-contexts",
  logs: "cli-cost-usage",
  mcp: "cli-mcp",
  memory: "cli-compression",
  model: "cli-models",
  playground: "cli-chat",
  plugin: "cli-plugins-skills",
  pricing: "cli-models",
  provider: "cli-providers",
  proxy: "cli-providers",
  quota: "cli-routing",
  "reset-encrypted-columns": "cli-setup",
  "reset-password": "cli-setup",
  resilience: "cli-resilience",
  restore: "cli-backup-sync",
  route: "cli-routing",
  search: "cli-chat",
  serve: "cli-serve",
  service: "cli-serve",
  sessions: "cli-cost-usage",
  settings: "cli-policy-audit",
  setup: "cli-setup",
  skills: "cli-plugins-skills",
  speak: "cli-chat",
  status: "cli-health",
  telemetry: "cli-health",
  test: "cli-chat",
  tools: "cli-setup",
  transcribe: "cli-chat",
  usage: "cli-cost-usage",
  version: "cli-health",
  capture: "cli-setup",
  tunnel: "cli-tunnel",
  webhook: "cli-policy-audit"
}

/** Commands that are many of one kind. */
const kinds: ReadonlyArray<readonly [beginning: string, skill: CommandSkillId]> = [
  ["setup-", "cli-setup"],
  ["launch", "cli-setup"]
]

/** Finds the skill by the first word of a command; null: it has no place yet. */
export const skillOfCommand = (name: string): CommandSkillId | null =>
  commands[name] ?? kinds.find(([beginning]) => name.startsWith(beginning))?.[1] ?? null
