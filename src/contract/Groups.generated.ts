/** All groups of the management contract. Written by `bin/subjects.mjs`: do not edit. */
import * as HttpApi from "@effect/platform/HttpApi"
import { A2a } from "../subjects/a2a/routes.ts"
import { Acp } from "../subjects/acp/routes.ts"
import { AgentBridge } from "../subjects/agentBridge/routes.ts"
import { AgentSkills } from "../subjects/skills/routes.ts"
import { Attention } from "../subjects/attention/routes.ts"
import { Audit } from "../subjects/audit/routes.ts"
import { Auth } from "../subjects/auth/routes.ts"
import { Backups } from "../subjects/backups/routes.ts"
import { Bills } from "../subjects/bills/routes.ts"
import { Capture } from "../subjects/capture/routes.ts"
import { CliTools } from "../subjects/tools/routes.ts"
import { Cloud } from "../subjects/cloud/routes.ts"
import { Cluster } from "../subjects/cluster/routes.ts"
import { Combos } from "../subjects/combos/routes.ts"
import { Compression } from "../subjects/compression/routes.ts"
import { CompressionCombos } from "../subjects/compressionCombos/routes.ts"
import { Configuration } from "../subjects/configuration/routes.ts"
import { Evals } from "../subjects/evals/routes.ts"
import { Flags } from "../subjects/flags/routes.ts"
import { GatewaySettings } from "../subjects/settings/routes.ts"
import { Guardrails } from "../subjects/guardrails/routes.ts"
import { Inspector } from "../subjects/inspector/routes.ts"
import { IssueLimits } from "../subjects/issueLimits/routes.ts"
import { IssueReports } from "../subjects/issueReports/routes.ts"
import { Issuers } from "../subjects/issuers/routes.ts"
import { Keys } from "../subjects/keys/routes.ts"
import { Limits } from "../subjects/limits/routes.ts"
import { Live } from "../subjects/live/routes.ts"
import { Logins } from "../subjects/logins/routes.ts"
import { Mcp } from "../subjects/mcp/routes.ts"
import { McpServers } from "../subjects/mcpServers/routes.ts"
import { Memory } from "../subjects/memory/routes.ts"
import { ModelAliases } from "../subjects/aliases/routes.ts"
import { ModelCatalog } from "../subjects/catalog/routes.ts"
import { OAuth } from "../subjects/oauth/routes.ts"
import { Playground } from "../subjects/playground/routes.ts"
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
import { Resilience } from "../subjects/resilience/routes.ts"
import { Routing } from "../subjects/routing/routes.ts"
import { RoutingSettings } from "../subjects/routingSettings/routes.ts"
import { Rtk } from "../subjects/rtk/routes.ts"
import { SignIn } from "../subjects/signIn/routes.ts"
import { Sync } from "../subjects/sync/routes.ts"
import { System } from "../subjects/system/routes.ts"
import { Teams } from "../subjects/teams/routes.ts"
import { Telemetry } from "../subjects/telemetry/routes.ts"
import { Tunnels } from "../subjects/tunnels/routes.ts"
import { Usage } from "../subjects/usage/routes.ts"
import { UsageHistory } from "../subjects/usageHistory/routes.ts"
import { Users } from "../subjects/users/routes.ts"
import { Webhooks } from "../subjects/webhooks/routes.ts"

export const groups = HttpApi.make("gateway")
  .add(A2a)
  .add(Acp)
  .add(AgentBridge)
  .add(AgentSkills)
  .add(Attention)
  .add(Audit)
  .add(Auth)
  .add(Backups)
  .add(Bills)
  .add(Capture)
  .add(CliTools)
  .add(Cloud)
  .add(Cluster)
  .add(Combos)
  .add(Compression)
  .add(CompressionCombos)
  .add(Configuration)
  .add(Evals)
  .add(Flags)
  .add(GatewaySettings)
  .add(Guardrails)
  .add(Inspector)
  .add(IssueLimits)
  .add(IssueReports)
  .add(Issuers)
  .add(Keys)
  .add(Limits)
  .add(Live)
  .add(Logins)
  .add(Mcp)
  .add(McpServers)
  .add(Memory)
  .add(ModelAliases)
  .add(ModelCatalog)
  .add(OAuth)
  .add(Playground)
  .add(Plugins)
  .add(Policies)
  .add(Pricing)
  .add(ProviderModels)
  .add(ProviderNodes)
  .add(Providers)
  .add(Proxies)
  .add(QuotaGroups)
  .add(RateLimits)
  .add(RegisteredKeys)
  .add(Resilience)
  .add(Routing)
  .add(RoutingSettings)
  .add(Rtk)
  .add(SignIn)
  .add(Sync)
  .add(System)
  .add(Teams)
  .add(Telemetry)
  .add(Tunnels)
  .add(Usage)
  .add(UsageHistory)
  .add(Users)
  .add(Webhooks)
