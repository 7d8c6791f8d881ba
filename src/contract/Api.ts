/**
 * The management contract: every endpoint of the route table once. Handlers, the CLI's client and `/openapi.json` derive from it.
 * Errors every route can answer are declared here; the others at their endpoint.
 */
import * as HttpApi from "@effect/platform/HttpApi"
import type * as HttpApiEndpoint from "@effect/platform/HttpApiEndpoint"
import type * as HttpApiGroup from "@effect/platform/HttpApiGroup"
import * as OpenApi from "@effect/platform/OpenApi"
import { withCommonErrors } from "./CommonErrors.ts"
import { A2a } from "../subjects/a2a/routes.ts"
import { Acp } from "../subjects/acp/routes.ts"
import { CliTools } from "../subjects/tools/routes.ts"
import { Mcp } from "../subjects/mcp/routes.ts"
import { McpServers } from "../subjects/mcpServers/routes.ts"
import { AgentSkills } from "../subjects/skills/routes.ts"
import { Audit } from "../subjects/audit/routes.ts"
import { Auth } from "../subjects/auth/routes.ts"
import { Backups } from "../subjects/backups/routes.ts"
import { Combos } from "../subjects/combos/routes.ts"
import { Flags } from "../subjects/flags/routes.ts"
import { GatewaySettings } from "../subjects/settings/routes.ts"
import { AgentBridge } from "../subjects/agentBridge/routes.ts"
import { Capture } from "../subjects/capture/routes.ts"
import { Keys } from "../subjects/keys/routes.ts"
import { Limits } from "../subjects/limits/routes.ts"
import { IssueLimits } from "../subjects/issueLimits/routes.ts"
import { IssueReports } from "../subjects/issueReports/routes.ts"
import { Inspector } from "../subjects/inspector/routes.ts"
import { Live } from "../subjects/live/routes.ts"
import { Rtk } from "../subjects/rtk/routes.ts"
import { Guardrails } from "../subjects/guardrails/routes.ts"
import { Compression } from "../subjects/compression/routes.ts"
import { Configuration } from "../subjects/configuration/routes.ts"
import { CompressionCombos } from "../subjects/compressionCombos/routes.ts"
import { Memory } from "../subjects/memory/routes.ts"
import { ModelAliases } from "../subjects/aliases/routes.ts"
import { ModelCatalog } from "../subjects/catalog/routes.ts"
import { OAuth } from "../subjects/oauth/routes.ts"
import { Plugins } from "../subjects/plugins/routes.ts"
import { Policies } from "../subjects/policies/routes.ts"
import { Pricing } from "../subjects/pricing/routes.ts"
import { ProviderModels } from "../subjects/models/routes.ts"
import { ProviderNodes } from "../subjects/nodes/routes.ts"
import { Providers } from "../subjects/connections/routes.ts"
import { Proxies } from "../subjects/proxies/routes.ts"
import { QuotaGroups } from "../subjects/quotaGroups/routes.ts"
import { RateLimits } from "../subjects/rateLimits/routes.ts"
import { RegisteredKeys } from "../subjects/registeredKeys/routes.ts"
import { Playground } from "../subjects/playground/routes.ts"
import { Resilience } from "../subjects/resilience/routes.ts"
import { Routing } from "../subjects/routing/routes.ts"
import { RoutingSettings } from "../subjects/routingSettings/routes.ts"
import { Cloud } from "../subjects/cloud/routes.ts"
import { Sync } from "../subjects/sync/routes.ts"
import { System } from "../subjects/system/routes.ts"
import { Telemetry } from "../subjects/telemetry/routes.ts"
import { Tunnels } from "../subjects/tunnels/routes.ts"
import { Usage } from "../subjects/usage/routes.ts"
import { Evals } from "../subjects/evals/routes.ts"
import { Webhooks } from "../subjects/webhooks/routes.ts"
import { UsageHistory } from "../subjects/usageHistory/routes.ts"
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
