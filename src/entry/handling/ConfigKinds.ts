/** Tells which management requests change the configuration, and what of it: for the feed's channel `config`. Pure. */
import type { GroupName, ManagementKey } from "../../contract/ManagementRoutes.ts"

/** Kinds by group; null: nothing of the configuration. Every group says it. */
const kinds: Readonly<Record<GroupName, string | null>> = {
  acp: "agent",
  agentBridge: "capture",
  attention: null,
  cluster: null,
  capture: "capture",
  cloud: "connection",
  combos: "combo",
  compression: "settings",
  compressionCombos: "compressionCombo",
  evals: "suite",
  flags: "flag",
  gatewaySettings: "settings",
  guardrails: "settings",
  issueLimits: "limit",
  issuers: "issuer",
  keys: "key",
  limits: "limit",
  mcpServers: "mcpServer",
  memory: "settings",
  modelAliases: "alias",
  oauth: "connection",
  playground: "preset",
  plugins: "plugin",
  pricing: "price",
  providerModels: "model",
  providerNodes: "node",
  providers: "connection",
  proxies: "proxy",
  quotaGroups: "quotaGroup",
  registeredKeys: "key",
  resilience: "settings",
  routingSettings: "settings",
  rtk: "settings",
  sync: "sync",
  teams: "team",
  tunnels: "tunnel",
  users: "user",
  webhooks: "webhook",
  a2a: null,
  agentSkills: null,
  audit: null,
  auth: null,
  backups: null,
  bills: null,
  signIn: null,
  logins: null,
  cliTools: null,
  // What it applies is asked of the other groups.
  configuration: null,
  inspector: null,
  issueReports: null,
  live: null,
  mcp: null,
  modelCatalog: null,
  policies: null,
  rateLimits: null,
  routing: null,
  system: null,
  telemetry: null,
  usage: null,
  usageHistory: null
}

/** Requests of those groups that try or run something, and leave the configuration as it is. */
const changesNothing: ReadonlySet<ManagementKey> = new Set<ManagementKey>([
  "agentBridge.repair",
  "capture.systemProxy",
  "cloud.auth",
  "cloud.resolveModel",
  "compression.preview",
  "evals.start",
  "evals.cancel",
  "guardrails.test",
  "issuers.test",
  "mcpServers.test",
  "memory.create",
  "memory.patch",
  "memory.preview",
  "memory.reindex",
  "memory.remove",
  "memory.update",
  "playground.compare",
  "playground.improvePrompt",
  "playground.snippets",
  "plugins.test",
  "providers.test",
  "providers.validate",
  "proxies.findFree",
  "proxies.test",
  // The channel `health` tells of these.
  "resilience.clearCooldowns",
  "resilience.clearModelCooldowns",
  "resilience.reset",
  "rtk.test",
  "teams.content",
  "webhooks.test"
])

/** Requests that change another kind of thing than their group. */
const others: Readonly<Partial<Record<ManagementKey, string>>> = {
  "cloud.putAlias": "alias",
  "cloud.setAlias": "alias",
  "compressionCombos.setCaveman": "settings",
  "proxies.setSettings": "settings"
}

/** A change of the configuration, by the row that the audit log has of it. */
export interface ConfigChange {
  readonly kind: string
  readonly id: string | null
}

/** Null: the request has changed nothing of the configuration. `action`, `target`: those of its row. */
export const configChangeOf = (key: ManagementKey, action: string, target: string | null): ConfigChange | null => {
  const [group = ""] = key.split(".", 1)
  const kind = others[key] ?? kinds[group as GroupName]
  if (kind === null || changesNothing.has(key)) return null
  // Steps of a sign-in make a connection once.
  if (group === "oauth" && action !== "provider.credentials.imported") return null
  return { kind, id: target ?? (kind === "settings" ? group : null) }
}
