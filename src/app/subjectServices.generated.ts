/** The layers of the subjects' services, each over those of the services it needs. Written by `bin/subjects.mjs`: do not edit. */
import * as Layer from "effect/Layer"
import * as Aliases from "../subjects/aliases/service.ts"
import * as Backups from "../subjects/backups/service.ts"
import * as Bills from "../subjects/bills/service.ts"
import * as Catalog from "../subjects/catalog/service.ts"
import * as Cloud from "../subjects/cloud/service.ts"
import * as Cluster from "../subjects/cluster/service.ts"
import * as Combos from "../subjects/combos/service.ts"
import * as Compression from "../subjects/compression/service.ts"
import * as CompressionCombos from "../subjects/compressionCombos/service.ts"
import * as Connections from "../subjects/connections/service.ts"
import * as Evals from "../subjects/evals/service.ts"
import * as Guardrails from "../subjects/guardrails/service.ts"
import * as IssueLimits from "../subjects/issueLimits/service.ts"
import * as IssueReports from "../subjects/issueReports/service.ts"
import * as Issuers from "../subjects/issuers/service.ts"
import * as Keys from "../subjects/keys/service.ts"
import * as Limits from "../subjects/limits/service.ts"
import * as Logins from "../subjects/logins/service.ts"
import * as McpServers from "../subjects/mcpServers/service.ts"
import * as Memory from "../subjects/memory/service.ts"
import * as Models from "../subjects/models/service.ts"
import * as Nodes from "../subjects/nodes/service.ts"
import * as Oauth from "../subjects/oauth/service.ts"
import * as Proxies from "../subjects/proxies/service.ts"
import * as QuotaGroups from "../subjects/quotaGroups/service.ts"
import * as RegisteredKeys from "../subjects/registeredKeys/service.ts"
import * as Resilience from "../subjects/resilience/service.ts"
import * as Rtk from "../subjects/rtk/service.ts"
import * as Settings from "../subjects/settings/service.ts"
import * as SignIn from "../subjects/signIn/service.ts"
import * as Sync from "../subjects/sync/service.ts"
import * as System from "../subjects/system/service.ts"
import * as Teams from "../subjects/teams/service.ts"
import * as Tools from "../subjects/tools/service.ts"
import * as Usage from "../subjects/usage/service.ts"
import * as UsageHistory from "../subjects/usageHistory/service.ts"
import * as Users from "../subjects/users/service.ts"
import * as Webhooks from "../subjects/webhooks/service.ts"

const level0 = Layer.mergeAll(
  Aliases.layer,
  Backups.layer,
  Bills.layer,
  Cluster.layer,
  Combos.layer,
  Compression.layer,
  CompressionCombos.layer,
  Connections.layer,
  Evals.layer,
  Guardrails.layer,
  IssueLimits.layer,
  IssueReports.layer,
  Issuers.layer,
  Keys.layer,
  Limits.layer,
  McpServers.layer,
  Memory.layer,
  Models.layer,
  Nodes.layer,
  Proxies.layer,
  QuotaGroups.layer,
  Resilience.layer,
  Rtk.layer,
  Settings.layer,
  System.layer,
  Teams.layer,
  Usage.layer,
  UsageHistory.layer,
  Users.layer,
  Webhooks.layer
)

const level1 = Layer.mergeAll(
  Catalog.layer,
  Cloud.layer,
  Logins.layer,
  Oauth.layer,
  RegisteredKeys.layer,
  SignIn.layer,
  Sync.layer
).pipe(Layer.provideMerge(level0))

const level2 = Layer.mergeAll(
  Tools.layer
).pipe(Layer.provideMerge(level1))

export const subjectServices = level2
