/**
 * The handlers of the management plane by group, loaded by the first request for one of their kind: with a chunk for each, what the start
 * loads would be in many small ones. What they work on is loaded with the plane.
 */
import type * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import type * as HttpRouter from "@effect/platform/HttpRouter"
import type * as Layer from "effect/Layer"
import type { ManagementKey } from "../../contract/ManagementRoutes.ts"
import type { WholeBody } from "../../contract/WholeBody.ts"
import type { Login } from "../../subjects/auth/Login.ts"
import type { ManagementServices } from "./Services.ts"
import type * as Access from "./Access.ts"
import type { Planes } from "../handling/Planes.ts"

export type GroupName = ManagementKey extends infer Key ? (Key extends `${infer Name}.${string}` ? Name : never) : never

/** Services that the handlers of a group are built over. */
export type GroupServices =
  | ManagementServices
  | HttpApiBuilder.Router
  | HttpRouter.HttpRouter.DefaultServices
  | Layer.Layer.Success<typeof Access.layer>
  | Login
  | Planes
  | WholeBody

export const handlersOf: {
  readonly [Name in GroupName]: () => Promise<Layer.Layer<HttpApiGroup.ApiGroup<"gateway", Name>, never, GroupServices>>
} = {
  auth: () => import("./groups/Usual.ts").then((groups) => groups.auth),
  combos: () => import("./groups/Usual.ts").then((groups) => groups.combos),
  configuration: () => import("./groups/Others.ts").then((groups) => groups.configuration),
  flags: () => import("./groups/Usual.ts").then((groups) => groups.flags),
  gatewaySettings: () => import("./groups/Usual.ts").then((groups) => groups.gatewaySettings),
  keys: () => import("./groups/Usual.ts").then((groups) => groups.keys),
  limits: () => import("./groups/Usual.ts").then((groups) => groups.limits),
  live: () => import("./groups/Usual.ts").then((groups) => groups.live),
  modelAliases: () => import("./groups/Usual.ts").then((groups) => groups.modelAliases),
  modelCatalog: () => import("./groups/Usual.ts").then((groups) => groups.modelCatalog),
  policies: () => import("./groups/Usual.ts").then((groups) => groups.policies),
  pricing: () => import("./groups/Usual.ts").then((groups) => groups.pricing),
  providerModels: () => import("./groups/Usual.ts").then((groups) => groups.providerModels),
  providerNodes: () => import("./groups/Usual.ts").then((groups) => groups.providerNodes),
  providers: () => import("./groups/Usual.ts").then((groups) => groups.providers),
  rateLimits: () => import("./groups/Usual.ts").then((groups) => groups.rateLimits),
  resilience: () => import("./groups/Usual.ts").then((groups) => groups.resilience),
  routing: () => import("./groups/Usual.ts").then((groups) => groups.routing),
  routingSettings: () => import("./groups/Usual.ts").then((groups) => groups.routingSettings),
  system: () => import("./groups/Usual.ts").then((groups) => groups.system),
  usage: () => import("./groups/Usual.ts").then((groups) => groups.usage),
  agentBridge: () => import("./groups/Traffic.ts").then((groups) => groups.agentBridge),
  capture: () => import("./groups/Traffic.ts").then((groups) => groups.capture),
  cloud: () => import("./groups/Traffic.ts").then((groups) => groups.cloud),
  inspector: () => import("./groups/Traffic.ts").then((groups) => groups.inspector),
  proxies: () => import("./groups/Traffic.ts").then((groups) => groups.proxies),
  sync: () => import("./groups/Traffic.ts").then((groups) => groups.sync),
  tunnels: () => import("./groups/Traffic.ts").then((groups) => groups.tunnels),
  a2a: () => import("./groups/Others.ts").then((groups) => groups.a2a),
  acp: () => import("./groups/Others.ts").then((groups) => groups.acp),
  agentSkills: () => import("./groups/Others.ts").then((groups) => groups.agentSkills),
  audit: () => import("./groups/Others.ts").then((groups) => groups.audit),
  backups: () => import("./groups/Others.ts").then((groups) => groups.backups),
  cliTools: () => import("./groups/Others.ts").then((groups) => groups.cliTools),
  compression: () => import("./groups/Others.ts").then((groups) => groups.compression),
  compressionCombos: () => import("./groups/Others.ts").then((groups) => groups.compressionCombos),
  evals: () => import("./groups/Others.ts").then((groups) => groups.evals),
  guardrails: () => import("./groups/Others.ts").then((groups) => groups.guardrails),
  issueLimits: () => import("./groups/Others.ts").then((groups) => groups.issueLimits),
  issueReports: () => import("./groups/Others.ts").then((groups) => groups.issueReports),
  mcp: () => import("./groups/Others.ts").then((groups) => groups.mcp),
  mcpServers: () => import("./groups/Others.ts").then((groups) => groups.mcpServers),
  memory: () => import("./groups/Others.ts").then((groups) => groups.memory),
  oauth: () => import("./groups/Others.ts").then((groups) => groups.oauth),
  playground: () => import("./groups/Others.ts").then((groups) => groups.playground),
  plugins: () => import("./groups/Others.ts").then((groups) => groups.plugins),
  quotaGroups: () => import("./groups/Others.ts").then((groups) => groups.quotaGroups),
  registeredKeys: () => import("./groups/Others.ts").then((groups) => groups.registeredKeys),
  rtk: () => import("./groups/Others.ts").then((groups) => groups.rtk),
  telemetry: () => import("./groups/Others.ts").then((groups) => groups.telemetry),
  usageHistory: () => import("./groups/Others.ts").then((groups) => groups.usageHistory),
  webhooks: () => import("./groups/Others.ts").then((groups) => groups.webhooks)
}
