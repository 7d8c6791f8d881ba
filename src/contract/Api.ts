/**
 * The management contract: every endpoint of the route table once. Handlers, the CLI's client and `/openapi.json` derive from it.
 * Errors every route can answer are declared here; the others at their endpoint.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { withCommonErrors } from "./CommonErrors.ts"
import { A2a } from "./Groups/A2a.ts"
import { Acp } from "./Groups/Acp.ts"
import { CliTools } from "./Groups/CliTools.ts"
import { Mcp } from "./Groups/Mcp.ts"
import { McpServers } from "./Groups/McpServers.ts"
import { AgentSkills } from "./Groups/AgentSkills.ts"
import { Audit } from "./Groups/Audit.ts"
import { Auth } from "./Groups/Auth.ts"
import { Backups } from "./Groups/Backups.ts"
import { Combos } from "./Groups/Combos.ts"
import { Flags } from "./Groups/Flags.ts"
import { GatewaySettings } from "./Groups/GatewaySettings.ts"
import { AgentBridge } from "./Groups/AgentBridge.ts"
import { Capture } from "./Groups/Capture.ts"
import { Keys } from "./Groups/Keys.ts"
import { Limits } from "./Groups/Limits.ts"
import { IssueLimits } from "./Groups/IssueLimits.ts"
import { IssueReports } from "./Groups/IssueReports.ts"
import { Inspector } from "./Groups/Inspector.ts"
import { Live } from "./Groups/Live.ts"
import { Rtk } from "./Groups/Rtk.ts"
import { Guardrails } from "./Groups/Guardrails.ts"
import { Compression } from "./Groups/Compression.ts"
import { Configuration } from "./Groups/Configuration.ts"
import { CompressionCombos } from "./Groups/CompressionCombos.ts"
import { Memory } from "./Groups/Memory.ts"
import { ModelAliases } from "./Groups/ModelAliases.ts"
import { ModelCatalog } from "./Groups/ModelCatalog.ts"
import { OAuth } from "./Groups/OAuth.ts"
import { Plugins } from "./Groups/Plugins.ts"
import { Policies } from "./Groups/Policies.ts"
import { Pricing } from "./Groups/Pricing.ts"
import { ProviderModels } from "./Groups/ProviderModels.ts"
import { ProviderNodes } from "./Groups/ProviderNodes.ts"
import { Providers } from "./Groups/Providers.ts"
import { Proxies } from "./Groups/Proxies.ts"
import { QuotaGroups } from "./Groups/QuotaGroups.ts"
import { RateLimits } from "./Groups/RateLimits.ts"
import { RegisteredKeys } from "./Groups/RegisteredKeys.ts"
import { Playground } from "./Groups/Playground.ts"
import { Resilience } from "./Groups/Resilience.ts"
import { Routing } from "./Groups/Routing.ts"
import { RoutingSettings } from "./Groups/RoutingSettings.ts"
import { Cloud } from "./Groups/Cloud.ts"
import { Sync } from "./Groups/Sync.ts"
import { System } from "./Groups/System.ts"
import { Telemetry } from "./Groups/Telemetry.ts"
import { Tunnels } from "./Groups/Tunnels.ts"
import { Usage } from "./Groups/Usage.ts"
import { Evals } from "./Groups/Evals.ts"
import { Webhooks } from "./Groups/Webhooks.ts"
import { UsageHistory } from "./Groups/UsageHistory.ts"
import type { ManagementKey } from "./ManagementRoutes.ts"
import { withStrictBodies } from "./StrictBodies.ts"

const contract = withCommonErrors(
  HttpApi.make("gateway")
    .add(Auth)
    .add(Audit)
    .add(Policies)
    .add(OAuth)
    .add(Providers)
    .add(ProviderNodes)
    .add(ProviderModels)
    .add(Combos)
    .add(ModelAliases)
    .add(Guardrails)
    .add(Compression)
    .add(Memory)
    .add(Rtk)
    .add(CompressionCombos)
    .add(QuotaGroups)
    .add(Proxies)
    .add(Keys)
    .add(RegisteredKeys)
    .add(IssueLimits)
    .add(IssueReports)
    .add(Pricing)
    .add(Limits)
    .add(ModelCatalog)
    .add(Usage)
    .add(Webhooks)
    .add(Tunnels)
    .add(Evals)
    .add(UsageHistory)
    .add(Telemetry)
    .add(Live)
    .add(Capture)
    .add(AgentBridge)
    .add(Plugins)
    .add(Inspector)
    .add(Playground)
    .add(Routing)
    .add(RoutingSettings)
    .add(Resilience)
    .add(RateLimits)
    .add(System)
    .add(AgentSkills)
    .add(A2a)
    .add(Mcp)
    .add(McpServers)
    .add(CliTools)
    .add(Acp)
    .add(Flags)
    .add(GatewaySettings)
    .add(Configuration)
    .add(Backups)
    .add(Cloud)
    .add(Sync)
)
  .annotate(OpenApi.Title, "Gateway")
  .annotate(OpenApi.Description, "Self-hosted gateway between AI clients and AI providers.")

type KeyOf<Group> = Group extends HttpApiGroup.HttpApiGroup.Any
  ? `${HttpApiGroup.HttpApiGroup.Name<Group>}.${HttpApiEndpoint.HttpApiEndpoint.Name<HttpApiGroup.HttpApiGroup.Endpoints<Group>>}`
  : never

type ContractKey =
  typeof contract extends HttpApi.HttpApi<infer _Id, infer Groups, infer _E, infer _R> ? KeyOf<Groups> : never

/** Does not compile while a route of the table has no endpoint. */
const withAll = <Api>(api: [ManagementKey] extends [ContractKey] ? Api : Exclude<ManagementKey, ContractKey>): Api =>
  api as Api

export class GatewayApi extends withStrictBodies(withAll<typeof contract>(contract)) {}
