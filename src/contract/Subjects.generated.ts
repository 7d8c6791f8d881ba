/** The declarations of all subjects that have routes, by the names of their groups. Written by `bin/subjects.mjs`: do not edit. */
import { a2a } from "../subjects/a2a/subject.ts"
import { acp } from "../subjects/acp/subject.ts"
import { agentBridge } from "../subjects/agentBridge/subject.ts"
import { agentSkills } from "../subjects/skills/subject.ts"
import { attention } from "../subjects/attention/subject.ts"
import { audit } from "../subjects/audit/subject.ts"
import { auth } from "../subjects/auth/subject.ts"
import { backups } from "../subjects/backups/subject.ts"
import { bills } from "../subjects/bills/subject.ts"
import { capture } from "../subjects/capture/subject.ts"
import { cliTools } from "../subjects/tools/subject.ts"
import { cloud } from "../subjects/cloud/subject.ts"
import { cluster } from "../subjects/cluster/subject.ts"
import { combos } from "../subjects/combos/subject.ts"
import { compression } from "../subjects/compression/subject.ts"
import { compressionCombos } from "../subjects/compressionCombos/subject.ts"
import { configuration } from "../subjects/configuration/subject.ts"
import { evals } from "../subjects/evals/subject.ts"
import { flags } from "../subjects/flags/subject.ts"
import { gatewaySettings } from "../subjects/settings/subject.ts"
import { guardrails } from "../subjects/guardrails/subject.ts"
import { inspector } from "../subjects/inspector/subject.ts"
import { issueLimits } from "../subjects/issueLimits/subject.ts"
import { issueReports } from "../subjects/issueReports/subject.ts"
import { issuers } from "../subjects/issuers/subject.ts"
import { keys } from "../subjects/keys/subject.ts"
import { limits } from "../subjects/limits/subject.ts"
import { live } from "../subjects/live/subject.ts"
import { logins } from "../subjects/logins/subject.ts"
import { mcp } from "../subjects/mcp/subject.ts"
import { mcpServers } from "../subjects/mcpServers/subject.ts"
import { memory } from "../subjects/memory/subject.ts"
import { modelAliases } from "../subjects/aliases/subject.ts"
import { modelCatalog } from "../subjects/catalog/subject.ts"
import { oauth } from "../subjects/oauth/subject.ts"
import { playground } from "../subjects/playground/subject.ts"
import { plugins } from "../subjects/plugins/subject.ts"
import { policies } from "../subjects/policies/subject.ts"
import { pricing } from "../subjects/pricing/subject.ts"
import { providerModels } from "../subjects/models/subject.ts"
import { providerNodes } from "../subjects/nodes/subject.ts"
import { providers } from "../subjects/connections/subject.ts"
import { proxies } from "../subjects/proxies/subject.ts"
import { quotaGroups } from "../subjects/quotaGroups/subject.ts"
import { rateLimits } from "../subjects/rateLimits/subject.ts"
import { registeredKeys } from "../subjects/registeredKeys/subject.ts"
import { resilience } from "../subjects/resilience/subject.ts"
import { routing } from "../subjects/routing/subject.ts"
import { routingSettings } from "../subjects/routingSettings/subject.ts"
import { rtk } from "../subjects/rtk/subject.ts"
import { signIn } from "../subjects/signIn/subject.ts"
import { sync } from "../subjects/sync/subject.ts"
import { system } from "../subjects/system/subject.ts"
import { teams } from "../subjects/teams/subject.ts"
import { telemetry } from "../subjects/telemetry/subject.ts"
import { tunnels } from "../subjects/tunnels/subject.ts"
import { usage } from "../subjects/usage/subject.ts"
import { usageHistory } from "../subjects/usageHistory/subject.ts"
import { users } from "../subjects/users/subject.ts"
import { webhooks } from "../subjects/webhooks/subject.ts"

export const subjects = {
  a2a,
  acp,
  agentBridge,
  agentSkills,
  attention,
  audit,
  auth,
  backups,
  bills,
  capture,
  cliTools,
  cloud,
  cluster,
  combos,
  compression,
  compressionCombos,
  configuration,
  evals,
  flags,
  gatewaySettings,
  guardrails,
  inspector,
  issueLimits,
  issueReports,
  issuers,
  keys,
  limits,
  live,
  logins,
  mcp,
  mcpServers,
  memory,
  modelAliases,
  modelCatalog,
  oauth,
  playground,
  plugins,
  policies,
  pricing,
  providerModels,
  providerNodes,
  providers,
  proxies,
  quotaGroups,
  rateLimits,
  registeredKeys,
  resilience,
  routing,
  routingSettings,
  rtk,
  signIn,
  sync,
  system,
  teams,
  telemetry,
  tunnels,
  usage,
  usageHistory,
  users,
  webhooks
}
