/**
 * Paths and tiers of the management endpoints. The contract (`Groups/*`) makes its endpoints from this list, so that none is without a tier,
 * and the router knows their paths without loading the contract.
 */
import type { EndpointCategory } from "../subjects/keys/entity.ts"
import type { Tier } from "./Tier.ts"

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE"

interface Shape<M extends Method, P extends string, T extends Tier> {
  readonly method: M
  /** Lower-case path; `:name` stands for one segment, or for its part before a dash. */
  readonly path: P
  readonly tier: T
}

const open = <M extends Method, P extends `/${string}`>(method: M, path: P): Shape<M, P, "public"> => ({
  method,
  path,
  tier: "public"
})

const manage = <M extends Method, P extends `/${string}`>(method: M, path: P): Shape<M, P, "manage"> => ({
  method,
  path,
  tier: "manage"
})

const session = <M extends Method, P extends `/${string}`>(method: M, path: P): Shape<M, P, "session"> => ({
  method,
  path,
  tier: "session"
})

const self = <M extends Method, P extends `/${string}`>(method: M, path: P): Shape<M, P, "self"> => ({
  method,
  path,
  tier: "self"
})

const owner = <M extends Method, P extends `/${string}`>(method: M, path: P): Shape<M, P, "owner"> => ({
  method,
  path,
  tier: "owner"
})

const loopback = <M extends Method, P extends `/${string}`>(method: M, path: P): Shape<M, P, "loopback"> => ({
  method,
  path,
  tier: "loopback"
})

const ingest = <M extends Method, P extends `/${string}`>(method: M, path: P): Shape<M, P, "ingest"> => ({
  method,
  path,
  tier: "ingest"
})

const inference = <M extends Method, P extends `/${string}`>(method: M, path: P): Shape<M, P, "inference"> => ({
  method,
  path,
  tier: "inference"
})

/** Endpoints by `<group>.<endpoint>` of the contract. */
export const managementTable = {
  "auth.login": open("POST", "/api/auth/login"),
  "auth.logout": session("POST", "/api/auth/logout"),
  "auth.setPassword": owner("PUT", "/api/auth/password"),
  "auth.changePassword": session("POST", "/api/auth/password"),
  "auth.session": session("GET", "/api/auth/session"),
  "oauth.act": manage("POST", "/api/oauth/:provider/:action"),
  "oauth.callback": open("GET", "/api/oauth/:provider/callback"),
  "policies.get": manage("GET", "/api/policies"),
  "policies.act": manage("POST", "/api/policies"),
  "policies.clear": manage("DELETE", "/api/policies"),
  "audit.list": manage("GET", "/api/compliance/audit-log"),
  "providers.list": manage("GET", "/api/providers"),
  "providers.create": manage("POST", "/api/providers"),
  "providers.validate": manage("POST", "/api/providers/validate"),
  "providers.get": manage("GET", "/api/providers/:id"),
  "providers.update": manage("PUT", "/api/providers/:id"),
  "providers.remove": manage("DELETE", "/api/providers/:id"),
  "providers.test": manage("POST", "/api/providers/:id/test"),
  "providers.models": manage("GET", "/api/providers/:id/models"),
  "providerNodes.list": manage("GET", "/api/provider-nodes"),
  "providerNodes.create": manage("POST", "/api/provider-nodes"),
  "providerNodes.get": manage("GET", "/api/provider-nodes/:id"),
  "providerNodes.update": manage("PUT", "/api/provider-nodes/:id"),
  "providerNodes.remove": manage("DELETE", "/api/provider-nodes/:id"),
  "providerModels.list": manage("GET", "/api/provider-models"),
  "providerModels.create": manage("POST", "/api/provider-models"),
  "providerModels.update": manage("PATCH", "/api/provider-models"),
  "providerModels.remove": manage("DELETE", "/api/provider-models"),
  "combos.list": manage("GET", "/api/combos"),
  "combos.create": manage("POST", "/api/combos"),
  "combos.auto": manage("GET", "/api/combos/auto"),
  "combos.get": manage("GET", "/api/combos/:id"),
  "combos.update": manage("PUT", "/api/combos/:id"),
  "combos.remove": manage("DELETE", "/api/combos/:id"),
  "modelAliases.list": manage("GET", "/api/models/alias"),
  "modelAliases.set": manage("POST", "/api/models/alias"),
  "modelAliases.remove": manage("DELETE", "/api/models/alias"),
  "quotaGroups.list": manage("GET", "/api/quota/groups"),
  "quotaGroups.create": manage("POST", "/api/quota/groups"),
  "quotaGroups.get": manage("GET", "/api/quota/groups/:id"),
  "quotaGroups.update": manage("PUT", "/api/quota/groups/:id"),
  "quotaGroups.remove": manage("DELETE", "/api/quota/groups/:id"),
  "keys.list": manage("GET", "/api/keys"),
  "keys.create": manage("POST", "/api/keys"),
  "keys.get": manage("GET", "/api/keys/:id"),
  "keys.update": manage("PUT", "/api/keys/:id"),
  "keys.patch": manage("PATCH", "/api/keys/:id"),
  "keys.rotate": manage("POST", "/api/keys/:id/rotate"),
  "keys.remove": manage("DELETE", "/api/keys/:id"),
  "registeredKeys.check": manage("GET", "/v1/quotas/check"),
  "registeredKeys.register": manage("POST", "/api/v1/registered-keys"),
  "registeredKeys.list": manage("GET", "/api/v1/registered-keys"),
  "registeredKeys.get": manage("GET", "/api/v1/registered-keys/:id"),
  "registeredKeys.revoke": manage("POST", "/api/v1/registered-keys/:id/revoke"),
  "registeredKeys.remove": manage("DELETE", "/api/v1/registered-keys/:id"),
  "issueLimits.provider": manage("GET", "/api/v1/providers/:provider/limits"),
  "issueLimits.setProvider": manage("PUT", "/api/v1/providers/:provider/limits"),
  "issueLimits.removeProvider": manage("DELETE", "/api/v1/providers/:provider/limits"),
  "issueLimits.account": manage("GET", "/api/v1/accounts/:id/limits"),
  "issueLimits.setAccount": manage("PUT", "/api/v1/accounts/:id/limits"),
  "issueLimits.removeAccount": manage("DELETE", "/api/v1/accounts/:id/limits"),
  "issueReports.report": manage("POST", "/v1/issues/report"),
  "pricing.get": manage("GET", "/api/pricing"),
  "pricing.update": manage("PATCH", "/api/pricing"),
  "limits.budget": manage("GET", "/api/usage/budget"),
  "limits.setBudget": manage("POST", "/api/usage/budget"),
  "limits.removeBudget": manage("DELETE", "/api/usage/budget"),
  "limits.tokenLimits": manage("GET", "/api/usage/token-limits"),
  "limits.setTokenLimit": manage("POST", "/api/usage/token-limits"),
  "limits.removeTokenLimit": manage("DELETE", "/api/usage/token-limits"),
  "limits.ledger": manage("GET", "/api/usage/ledger"),
  "limits.me": self("GET", "/api/usage/me"),
  "pricing.reset": manage("DELETE", "/api/pricing"),
  "modelCatalog.list": manage("GET", "/api/models/catalog"),
  "usage.logs": manage("GET", "/api/usage/logs"),
  "usage.requestLogs": manage("GET", "/api/usage/request-logs"),
  "usageHistory.history": manage("GET", "/api/usage/history"),
  "usageHistory.analytics": manage("GET", "/api/usage/analytics"),
  "usageHistory.calls": manage("GET", "/api/usage/calls"),
  "usageHistory.export": manage("GET", "/api/usage/export"),
  "usageHistory.purge": manage("POST", "/api/settings/purge-request-history"),
  "telemetry.summary": manage("GET", "/api/telemetry/summary"),
  "telemetry.sessions": manage("GET", "/api/sessions"),
  "telemetry.caches": manage("GET", "/api/cache/stats"),
  "telemetry.clearCaches": manage("DELETE", "/api/cache/stats"),
  "usage.connection": manage("GET", "/api/usage/:connectionId"),
  "routing.explain": manage("POST", "/api/routing/explain"),
  "routing.simulate": manage("POST", "/api/routing/simulate"),
  "routing.replay": manage("POST", "/api/routing/replay"),
  "routing.decision": manage("GET", "/api/routing/decisions/:requestId"),
  "routingSettings.get": manage("GET", "/api/settings/routing"),
  "routingSettings.update": manage("PATCH", "/api/settings/routing"),
  "resilience.get": manage("GET", "/api/resilience"),
  "resilience.update": manage("PATCH", "/api/resilience"),
  "resilience.breakers": manage("GET", "/api/resilience/breakers"),
  "resilience.reset": manage("POST", "/api/resilience/reset"),
  "resilience.modelCooldowns": manage("GET", "/api/resilience/model-cooldowns"),
  "resilience.clearModelCooldowns": manage("DELETE", "/api/resilience/model-cooldowns"),
  "resilience.clearCooldowns": manage("DELETE", "/api/resilience/cooldowns"),
  "rateLimits.status": manage("GET", "/api/rate-limits"),
  "rateLimits.settings": manage("GET", "/api/rate-limit"),
  "live.describe": manage("GET", "/api/live"),
  "proxies.list": manage("GET", "/api/v1/management/proxies"),
  "proxies.create": manage("POST", "/api/v1/management/proxies"),
  "proxies.update": manage("PATCH", "/api/v1/management/proxies"),
  "proxies.remove": manage("DELETE", "/api/v1/management/proxies"),
  "proxies.assignments": manage("GET", "/api/v1/management/proxies/assignments"),
  "proxies.assign": manage("PUT", "/api/v1/management/proxies/assignments"),
  "proxies.findFree": manage("POST", "/api/v1/management/proxies/free"),
  "proxies.settings": manage("GET", "/api/settings/proxy"),
  "proxies.setSettings": manage("PUT", "/api/settings/proxy"),
  "proxies.test": manage("POST", "/api/settings/proxy/test"),
  "webhooks.list": manage("GET", "/api/webhooks"),
  "webhooks.create": manage("POST", "/api/webhooks"),
  "webhooks.get": manage("GET", "/api/webhooks/:id"),
  "webhooks.update": manage("PUT", "/api/webhooks/:id"),
  "webhooks.remove": manage("DELETE", "/api/webhooks/:id"),
  "webhooks.test": manage("POST", "/api/webhooks/:id/test"),
  "webhooks.deliveries": manage("GET", "/api/webhooks/:id/deliveries"),
  "tunnels.list": manage("GET", "/api/tunnels"),
  "tunnels.quick": manage("GET", "/api/tunnels/quick"),
  "tunnels.setQuick": manage("POST", "/api/tunnels/quick"),
  "tunnels.token": manage("GET", "/api/tunnels/token"),
  "tunnels.setToken": manage("POST", "/api/tunnels/token"),
  "tunnels.ssh": manage("GET", "/api/tunnels/ssh"),
  "tunnels.setSsh": manage("POST", "/api/tunnels/ssh"),
  "tunnels.mesh": manage("GET", "/api/tunnels/mesh"),
  "tunnels.checkMesh": manage("GET", "/api/tunnels/mesh/check"),
  "tunnels.installMesh": loopback("POST", "/api/tunnels/mesh/install"),
  "tunnels.startMeshDaemon": loopback("POST", "/api/tunnels/mesh/start-daemon"),
  "tunnels.logInMesh": manage("POST", "/api/tunnels/mesh/login"),
  "tunnels.enableMesh": manage("POST", "/api/tunnels/mesh/enable"),
  "tunnels.disableMesh": manage("POST", "/api/tunnels/mesh/disable"),
  "evals.overview": manage("GET", "/api/evals"),
  "evals.start": manage("POST", "/api/evals"),
  "evals.run": manage("GET", "/api/evals/runs/:id"),
  "evals.cancel": manage("POST", "/api/evals/runs/:id/cancel"),
  "evals.createSuite": manage("POST", "/api/evals/suites"),
  "evals.updateSuite": manage("PUT", "/api/evals/suites/:id"),
  "evals.removeSuite": manage("DELETE", "/api/evals/suites/:id"),
  "agentSkills.list": open("GET", "/api/agent-skills"),
  "agentSkills.coverage": open("GET", "/api/agent-skills/coverage"),
  "agentSkills.get": open("GET", "/api/agent-skills/:id"),
  "agentSkills.raw": open("GET", "/api/agent-skills/:id/raw"),
  "agentSkills.file": open("GET", "/skills/:id/skill.md"),
  "agentSkills.generate": manage("POST", "/api/agent-skills/generate"),
  "mcp.status": manage("GET", "/api/mcp/status"),
  "mcp.tools": manage("GET", "/api/mcp/tools"),
  "mcp.audit": manage("GET", "/api/mcp/audit"),
  "mcp.restart": manage("POST", "/api/mcp/restart"),
  "mcpServers.list": manage("GET", "/api/mcp/servers"),
  "mcpServers.create": manage("POST", "/api/mcp/servers"),
  "mcpServers.get": manage("GET", "/api/mcp/servers/:id"),
  "mcpServers.update": manage("PATCH", "/api/mcp/servers/:id"),
  "mcpServers.remove": manage("DELETE", "/api/mcp/servers/:id"),
  "mcpServers.test": manage("POST", "/api/mcp/servers/:id/test"),
  "cliTools.list": manage("GET", "/api/cli-tools"),
  "cliTools.statuses": manage("GET", "/api/cli-tools/all-statuses"),
  "cliTools.runtime": manage("GET", "/api/cli-tools/runtime/:id"),
  "cliTools.settings": loopback("GET", "/api/cli-tools/:tool-settings"),
  "cliTools.writeSettings": loopback("POST", "/api/cli-tools/:tool-settings"),
  "acp.list": manage("GET", "/api/acp/agents"),
  "acp.change": manage("POST", "/api/acp/agents"),
  "acp.remove": manage("DELETE", "/api/acp/agents"),
  "a2a.card": open("GET", "/.well-known/agent-card.json"),
  "a2a.formerCard": open("GET", "/.well-known/agent.json"),
  "a2a.status": manage("GET", "/api/a2a/status"),
  "system.ping": open("GET", "/api/health/ping"),
  "system.health": manage("GET", "/api/monitoring/health"),
  "system.init": open("GET", "/api/init"),
  "system.shutdown": manage("POST", "/api/shutdown"),
  "system.restart": manage("POST", "/api/restart"),
  "system.envRepair": manage("POST", "/api/system/env/repair"),
  "system.openapi": open("GET", "/openapi.json"),
  "system.configurationSchema": open("GET", "/gateway.schema.json"),
  "system.docs": open("GET", "/docs"),
  "system.docsFile": open("GET", "/docs/:file"),
  "flags.list": session("GET", "/api/settings/feature-flags"),
  "flags.set": session("PUT", "/api/settings/feature-flags"),
  "flags.clear": session("DELETE", "/api/settings/feature-flags"),
  "configuration.apply": manage("POST", "/api/configuration/apply"),
  "gatewaySettings.get": manage("GET", "/api/settings"),
  "gatewaySettings.update": manage("PATCH", "/api/settings"),
  "gatewaySettings.put": manage("PUT", "/api/settings"),
  "gatewaySettings.ipFilter": manage("GET", "/api/settings/ip-filter"),
  "gatewaySettings.setIpFilter": manage("PUT", "/api/settings/ip-filter"),
  "gatewaySettings.thinkingBudget": manage("GET", "/api/settings/thinking-budget"),
  "gatewaySettings.setThinkingBudget": manage("PUT", "/api/settings/thinking-budget"),
  "gatewaySettings.systemPrompt": manage("GET", "/api/settings/system-prompt"),
  "gatewaySettings.setSystemPrompt": manage("PUT", "/api/settings/system-prompt"),
  "gatewaySettings.requireLogin": manage("GET", "/api/settings/require-login"),
  "gatewaySettings.setRequireLogin": manage("PUT", "/api/settings/require-login"),
  "compressionCombos.caveman": manage("GET", "/api/context/caveman/config"),
  "compressionCombos.setCaveman": manage("PUT", "/api/context/caveman/config"),
  "compressionCombos.list": manage("GET", "/api/context/combos"),
  "compressionCombos.create": manage("POST", "/api/context/combos"),
  "compressionCombos.get": manage("GET", "/api/context/combos/:id"),
  "compressionCombos.replace": manage("PUT", "/api/context/combos/:id"),
  "compressionCombos.remove": manage("DELETE", "/api/context/combos/:id"),
  "compressionCombos.assignments": manage("GET", "/api/context/combos/:id/assignments"),
  "compressionCombos.assign": manage("PUT", "/api/context/combos/:id/assignments"),
  "rtk.config": manage("GET", "/api/context/rtk/config"),
  "rtk.setConfig": manage("PUT", "/api/context/rtk/config"),
  "rtk.filters": manage("GET", "/api/context/rtk/filters"),
  "rtk.test": manage("POST", "/api/context/rtk/test"),
  "rtk.rawOutput": manage("GET", "/api/context/rtk/raw-output/:id"),
  "guardrails.get": manage("GET", "/api/settings/guardrails"),
  "guardrails.set": manage("PUT", "/api/settings/guardrails"),
  "guardrails.test": manage("POST", "/api/guardrails/test"),
  "compression.settings": manage("GET", "/api/settings/compression"),
  "compression.setSettings": manage("PUT", "/api/settings/compression"),
  "compression.preview": manage("POST", "/api/compression/preview"),
  "compression.rules": manage("GET", "/api/compression/rules"),
  "compression.analytics": manage("GET", "/api/context/analytics"),
  "compression.languagePacks": manage("GET", "/api/compression/language-packs"),
  "memory.list": manage("GET", "/api/memory"),
  "memory.create": manage("POST", "/api/memory"),
  "memory.health": manage("GET", "/api/memory/health"),
  "memory.reindex": manage("POST", "/api/memory/reindex"),
  "memory.preview": manage("POST", "/api/memory/retrieve-preview"),
  "memory.get": manage("GET", "/api/memory/:id"),
  "memory.update": manage("PUT", "/api/memory/:id"),
  "memory.patch": manage("PATCH", "/api/memory/:id"),
  "memory.remove": manage("DELETE", "/api/memory/:id"),
  "memory.settings": manage("GET", "/api/settings/memory"),
  "memory.setSettings": manage("PUT", "/api/settings/memory"),
  "cloud.auth": manage("POST", "/api/cloud/auth"),
  "cloud.putCredentials": manage("PUT", "/api/cloud/credentials/update"),
  "cloud.updateCredentials": manage("POST", "/api/cloud/credentials/update"),
  "cloud.resolveModel": manage("POST", "/api/cloud/model/resolve"),
  "cloud.aliases": manage("GET", "/api/cloud/models/alias"),
  "cloud.putAlias": manage("PUT", "/api/cloud/models/alias"),
  "cloud.setAlias": manage("POST", "/api/cloud/models/alias"),
  "sync.status": manage("GET", "/api/sync/cloud"),
  "sync.act": manage("POST", "/api/sync/cloud"),
  "sync.bundle": manage("GET", "/api/sync/bundle"),
  "sync.initialize": manage("POST", "/api/sync/initialize"),
  "plugins.list": manage("GET", "/api/plugins"),
  "plugins.install": loopback("POST", "/api/plugins"),
  "plugins.scan": loopback("POST", "/api/plugins/scan"),
  "plugins.marketplace": manage("GET", "/api/plugins/marketplace"),
  "plugins.installOffer": loopback("POST", "/api/plugins/marketplace/:name/install"),
  "plugins.get": manage("GET", "/api/plugins/:name"),
  "plugins.remove": loopback("DELETE", "/api/plugins/:name"),
  "plugins.activate": loopback("POST", "/api/plugins/:name/activate"),
  "plugins.deactivate": loopback("POST", "/api/plugins/:name/deactivate"),
  "plugins.config": manage("GET", "/api/plugins/:name/config"),
  "plugins.setConfig": loopback("PUT", "/api/plugins/:name/config"),
  "plugins.logs": manage("GET", "/api/plugins/:name/logs"),
  "plugins.test": loopback("POST", "/api/plugins/:name/test"),
  "capture.hosts": loopback("GET", "/api/tools/traffic-inspector/hosts"),
  "capture.addHost": loopback("POST", "/api/tools/traffic-inspector/hosts"),
  "capture.enableHost": loopback("PATCH", "/api/tools/traffic-inspector/hosts/:host"),
  "capture.removeHost": loopback("DELETE", "/api/tools/traffic-inspector/hosts/:host"),
  "capture.httpProxy": loopback("POST", "/api/tools/traffic-inspector/capture-modes/http-proxy"),
  "capture.systemProxy": loopback("POST", "/api/tools/traffic-inspector/capture-modes/system-proxy"),
  "capture.tlsIntercept": loopback("POST", "/api/tools/traffic-inspector/capture-modes/tls-intercept"),
  "agentBridge.state": loopback("GET", "/api/tools/agent-bridge/state"),
  "agentBridge.server": loopback("POST", "/api/tools/agent-bridge/server"),
  "agentBridge.agents": loopback("GET", "/api/tools/agent-bridge/agents"),
  "agentBridge.agent": loopback("GET", "/api/tools/agent-bridge/agents/:id"),
  "agentBridge.agentDns": loopback("POST", "/api/tools/agent-bridge/agents/:id/dns"),
  "agentBridge.detectAgent": loopback("GET", "/api/tools/agent-bridge/agents/:id/detect"),
  "agentBridge.mappings": loopback("GET", "/api/tools/agent-bridge/agents/:id/mappings"),
  "agentBridge.setMappings": loopback("PUT", "/api/tools/agent-bridge/agents/:id/mappings"),
  "agentBridge.bypass": loopback("GET", "/api/tools/agent-bridge/bypass"),
  "agentBridge.setBypass": loopback("PUT", "/api/tools/agent-bridge/bypass"),
  "agentBridge.cert": loopback("GET", "/api/tools/agent-bridge/cert"),
  "agentBridge.downloadCert": loopback("GET", "/api/tools/agent-bridge/cert/download"),
  "agentBridge.regenerateCert": loopback("POST", "/api/tools/agent-bridge/cert/regenerate"),
  "agentBridge.upstreamCa": loopback("GET", "/api/tools/agent-bridge/upstream-ca"),
  "agentBridge.setUpstreamCa": loopback("PUT", "/api/tools/agent-bridge/upstream-ca"),
  "agentBridge.removeUpstreamCa": loopback("DELETE", "/api/tools/agent-bridge/upstream-ca"),
  "agentBridge.config": loopback("GET", "/api/tools/agent-bridge/config"),
  "agentBridge.setConfig": loopback("PUT", "/api/tools/agent-bridge/config"),
  "agentBridge.diagnose": loopback("GET", "/api/tools/agent-bridge/diagnose"),
  "agentBridge.repair": loopback("POST", "/api/tools/agent-bridge/repair"),
  "agentBridge.tproxy": loopback("GET", "/api/tools/agent-bridge/tproxy"),
  "agentBridge.startTproxy": loopback("POST", "/api/tools/agent-bridge/tproxy"),
  "agentBridge.stopTproxy": loopback("DELETE", "/api/tools/agent-bridge/tproxy"),
  "inspector.list": loopback("GET", "/api/tools/traffic-inspector/requests"),
  "inspector.clear": loopback("DELETE", "/api/tools/traffic-inspector/requests"),
  "inspector.get": loopback("GET", "/api/tools/traffic-inspector/requests/:id"),
  "inspector.annotate": loopback("PUT", "/api/tools/traffic-inspector/requests/:id/annotation"),
  "inspector.replay": loopback("POST", "/api/tools/traffic-inspector/requests/:id/replay"),
  "inspector.replayDirect": loopback("POST", "/api/tools/traffic-inspector/requests/:id/replay-direct"),
  "inspector.conversation": loopback("GET", "/api/tools/traffic-inspector/requests/:id/conversation"),
  "inspector.anatomy": loopback("GET", "/api/tools/traffic-inspector/requests/:id/anatomy"),
  "inspector.diff": loopback("GET", "/api/tools/traffic-inspector/requests/:id/diff/:other"),
  "inspector.cache": loopback("GET", "/api/tools/traffic-inspector/requests/:id/cache"),
  "inspector.cacheBreaks": loopback("GET", "/api/tools/traffic-inspector/cache-breaks"),
  "inspector.code": loopback("GET", "/api/tools/traffic-inspector/requests/:id/export"),
  "inspector.preset": loopback("GET", "/api/tools/traffic-inspector/requests/:id/preset"),
  "inspector.har": loopback("GET", "/api/tools/traffic-inspector/export.har"),
  "inspector.jsonl": loopback("GET", "/api/tools/traffic-inspector/export.jsonl"),
  "inspector.modes": loopback("GET", "/api/tools/traffic-inspector/capture-modes"),
  "inspector.gateway": loopback("POST", "/api/tools/traffic-inspector/capture-modes/gateway"),
  "inspector.sessions": loopback("GET", "/api/tools/traffic-inspector/sessions"),
  "inspector.startSession": loopback("POST", "/api/tools/traffic-inspector/sessions"),
  "inspector.importSession": loopback("POST", "/api/tools/traffic-inspector/sessions/import"),
  "inspector.session": loopback("GET", "/api/tools/traffic-inspector/sessions/:id"),
  "inspector.changeSession": loopback("PATCH", "/api/tools/traffic-inspector/sessions/:id"),
  "inspector.removeSession": loopback("DELETE", "/api/tools/traffic-inspector/sessions/:id"),
  "inspector.sessionHar": loopback("GET", "/api/tools/traffic-inspector/sessions/:id/export.har"),
  "inspector.sessionJsonl": loopback("GET", "/api/tools/traffic-inspector/sessions/:id/export.jsonl"),
  "inspector.ingest": ingest("POST", "/api/tools/traffic-inspector/internal/ingest"),
  "inspector.feed": loopback("GET", "/api/tools/traffic-inspector/ws"),
  "playground.presets": inference("GET", "/api/playground/presets"),
  "playground.createPreset": inference("POST", "/api/playground/presets"),
  "playground.preset": inference("GET", "/api/playground/presets/:id"),
  "playground.updatePreset": inference("PUT", "/api/playground/presets/:id"),
  "playground.removePreset": inference("DELETE", "/api/playground/presets/:id"),
  "playground.improvePrompt": inference("POST", "/api/playground/improve-prompt"),
  "playground.compare": inference("POST", "/api/playground/compare"),
  "playground.snippets": inference("POST", "/api/playground/snippets"),
  "backups.list": manage("GET", "/api/db-backups"),
  "backups.create": manage("PUT", "/api/db-backups"),
  "backups.restore": manage("POST", "/api/db-backups"),
  "backups.export": manage("GET", "/api/db-backups/export"),
  "backups.import": manage("POST", "/api/db-backups/import"),
  "backups.exportAll": manage("GET", "/api/db-backups/exportall")
}

export type ManagementTable = typeof managementTable
export type ManagementKey = keyof ManagementTable

export interface ManagementRoute {
  readonly plane: "management"
  readonly key: ManagementKey
  readonly method: Method
  readonly path: string
  readonly tier: Tier
  /** Answers and errors are in the management format. */
  readonly wire: null
  /** Bytes; `GATEWAY_MAX_BODY_MB` caps it. */
  readonly maxBodyBytes: number
}

/** Endpoints whose handlers read the body themselves as it comes; all others get it whole. */
export const streamedBodies: ReadonlySet<ManagementKey> = new Set<ManagementKey>([
  "backups.import",
  "inspector.importSession"
])

/**
 * Categories of the endpoints of the tier `inference`, as keys are allowed to use them; others are open to every key.
 */
export const askingKeys: Readonly<Partial<Record<ManagementKey, EndpointCategory>>> = {
  "playground.improvePrompt": "chat",
  "playground.compare": "chat"
}

const usualBodyBytes = 10 * 1_048_576
const loginBodyBytes = 16 * 1024

/** A route under `/v1` is also under `/api/v1`, and the reverse: clients have either in their base address. */
const pathsOf = (path: string): ReadonlyArray<string> => {
  if (path.startsWith("/v1/")) return [path, `/api${path}`]
  return path.startsWith("/api/v1/") ? [path, path.slice("/api".length)] : [path]
}

export const managementRoutes: ReadonlyArray<ManagementRoute> = Object.entries(managementTable).flatMap(
  ([key, { method, path: own, tier }]) =>
    pathsOf(own).map((path): ManagementRoute => ({
      plane: "management",
      key: key as ManagementKey,
      method,
      path,
      tier,
      wire: null,
      maxBodyBytes: key === "auth.login" ? loginBodyBytes : usualBodyBytes
    }))
)
