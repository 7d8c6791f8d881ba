/** The services of the subjects that the management plane works on. Written by `bin/subjects.mjs`: do not edit. */
import type * as Aliases from "../../subjects/aliases/service.ts"
import type * as Backups from "../../subjects/backups/service.ts"
import type * as Bills from "../../subjects/bills/service.ts"
import type * as Catalog from "../../subjects/catalog/service.ts"
import type * as Cloud from "../../subjects/cloud/service.ts"
import type * as Cluster from "../../subjects/cluster/service.ts"
import type * as Combos from "../../subjects/combos/service.ts"
import type * as Compression from "../../subjects/compression/service.ts"
import type * as CompressionCombos from "../../subjects/compressionCombos/service.ts"
import type * as Connections from "../../subjects/connections/service.ts"
import type * as Evals from "../../subjects/evals/service.ts"
import type * as Guardrails from "../../subjects/guardrails/service.ts"
import type * as IssueLimits from "../../subjects/issueLimits/service.ts"
import type * as IssueReports from "../../subjects/issueReports/service.ts"
import type * as Issuers from "../../subjects/issuers/service.ts"
import type * as Keys from "../../subjects/keys/service.ts"
import type * as Limits from "../../subjects/limits/service.ts"
import type * as Logins from "../../subjects/logins/service.ts"
import type * as McpServers from "../../subjects/mcpServers/service.ts"
import type * as Memory from "../../subjects/memory/service.ts"
import type * as Models from "../../subjects/models/service.ts"
import type * as Nodes from "../../subjects/nodes/service.ts"
import type * as Oauth from "../../subjects/oauth/service.ts"
import type * as Proxies from "../../subjects/proxies/service.ts"
import type * as QuotaGroups from "../../subjects/quotaGroups/service.ts"
import type * as RegisteredKeys from "../../subjects/registeredKeys/service.ts"
import type * as Resilience from "../../subjects/resilience/service.ts"
import type * as Rtk from "../../subjects/rtk/service.ts"
import type * as Settings from "../../subjects/settings/service.ts"
import type * as SignIn from "../../subjects/signIn/service.ts"
import type * as Sync from "../../subjects/sync/service.ts"
import type * as System from "../../subjects/system/service.ts"
import type * as Teams from "../../subjects/teams/service.ts"
import type * as Tools from "../../subjects/tools/service.ts"
import type * as Usage from "../../subjects/usage/service.ts"
import type * as UsageHistory from "../../subjects/usageHistory/service.ts"
import type * as Users from "../../subjects/users/service.ts"
import type * as Webhooks from "../../subjects/webhooks/service.ts"

export type SubjectServices =
  | Aliases.ModelAliases
  | Backups.Backups
  | Bills.Bills
  | Catalog.ModelCatalog
  | Cloud.CloudMembers
  | Cluster.Cluster
  | Combos.Combos
  | Compression.CompressionPreviews
  | CompressionCombos.CompressionCombos
  | Connections.Connections
  | Evals.Evals
  | Guardrails.Guardrails
  | IssueLimits.IssueLimits
  | IssueReports.IssueReports
  | Issuers.Issuers
  | Keys.Keys
  | Limits.Limits
  | Logins.Logins
  | McpServers.McpServers
  | Memory.MemoryEntries
  | Models.ProviderModels
  | Nodes.ProviderNodes
  | Oauth.SignIns
  | Proxies.Proxies
  | QuotaGroups.QuotaGroups
  | RegisteredKeys.RegisteredKeys
  | Resilience.Resilience
  | Rtk.RtkTools
  | Settings.SettingsChanges
  | SignIn.SignIn
  | Sync.CloudSync
  | System.SystemControl
  | Teams.Teams
  | Tools.ToolSettings
  | Usage.UsageReports
  | UsageHistory.UsageHistory
  | Users.Users
  | Webhooks.Webhooks
