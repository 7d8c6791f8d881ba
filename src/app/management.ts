/** The use cases of the management plane, over the services they work on. Imported dynamically, so that the start does not pay for them. */
import * as Layer from "effect/Layer"
import * as Evals from "../subjects/evals/service.ts"
import * as DirectReplay from "../agents/bridge/DirectReplay.ts"
import * as Replay from "../agents/bridge/Replay.ts"
import * as InnerRequests from "../plane/InnerRequests.ts"
import * as Backups from "../subjects/backups/service.ts"
import * as CloudMembers from "../subjects/cloud/service.ts"
import * as CloudSync from "../subjects/sync/service.ts"
import * as Combos from "../subjects/combos/service.ts"
import * as KeyChanges from "../plane/ledger/KeyChanges.ts"
import * as ConfigChanges from "../subjects/ConfigChanges.ts"
import * as ConnectionRecords from "../subjects/connections/ConnectionRecords.ts"
import * as Connections from "../subjects/connections/service.ts"
import * as IssueLimits from "../subjects/issueLimits/service.ts"
import * as IssueReports from "../subjects/issueReports/service.ts"
import * as Keys from "../subjects/keys/service.ts"
import * as Limits from "../subjects/limits/service.ts"
import * as CompressionCombos from "../subjects/compressionCombos/service.ts"
import * as RtkTools from "../subjects/rtk/service.ts"
import * as Guardrails from "../subjects/guardrails/service.ts"
import * as CompressionPreviews from "../subjects/compression/service.ts"
import * as McpServers from "../subjects/mcpServers/service.ts"
import * as MemoryEntries from "../subjects/memory/service.ts"
import * as ModelAliases from "../subjects/aliases/service.ts"
import * as ModelCatalog from "../subjects/catalog/service.ts"
import * as ObservedState from "../subjects/connections/ObservedState.ts"
import * as ProviderModels from "../subjects/models/service.ts"
import * as ProviderNodes from "../subjects/nodes/service.ts"
import * as Proxies from "../subjects/proxies/service.ts"
import * as FreeProxies from "../plane/providers/FreeProxies.ts"
import * as QuotaGroups from "../subjects/quotaGroups/service.ts"
import * as QuotaChecks from "../subjects/registeredKeys/QuotaChecks.ts"
import * as RegisteredKeys from "../subjects/registeredKeys/service.ts"
import * as Resilience from "../subjects/resilience/service.ts"
import * as SignIns from "../subjects/oauth/service.ts"
import * as SettingsChanges from "../subjects/settings/service.ts"
import * as SystemControl from "../subjects/system/service.ts"
import * as SystemHealth from "../subjects/system/SystemHealth.ts"
import * as UsageExport from "../subjects/usage/UsageExport.ts"
import * as UsageHistory from "../subjects/usageHistory/service.ts"
import * as OperatorSpending from "../subjects/connections/OperatorSpending.ts"
import * as PriceBook from "../observe/usage/PriceBook.ts"
import { priceOverrides } from "./settingsTables.ts"
import * as UsageReports from "../subjects/usage/service.ts"
import * as ToolSettings from "../subjects/tools/service.ts"
import { configurationCopies, rehearsals } from "./rehearsals.ts"
import * as Webhooks from "../subjects/webhooks/service.ts"
import * as AcpAgents from "../agents/tools/AcpAgents.ts"
import * as Detector from "../agents/tools/detection/Detector.ts"
import * as Skills from "../agents/skills/Skills.ts"
import * as CallSumsRepo from "../subjects/usage/CallSumsRepo.ts"
import * as UsageExportRepo from "../subjects/usage/UsageExportRepo.ts"
import * as UsageHistoryRepo from "../subjects/usageHistory/repo.ts"
import * as UsageSearchRepo from "../subjects/usage/UsageSearchRepo.ts"

/** Layers that change the configuration and report its state. */
export const management = Layer.mergeAll(
  Backups.layer,
  CloudSync.layer.pipe(Layer.provideMerge(Layer.mergeAll(Combos.layer, ModelAliases.layer))),
  Layer.mergeAll(SignIns.layer, CloudMembers.layer.pipe(Layer.provide(ModelAliases.layer))).pipe(
    Layer.provideMerge(Connections.layer.pipe(Layer.provide(OperatorSpending.layer)))
  ),
  Evals.layer,
  IssueReports.layer,
  RegisteredKeys.layer.pipe(Layer.provideMerge(Keys.layer)),
  ToolSettings.layer.pipe(Layer.provide([Keys.layer, ModelCatalog.layer.pipe(Layer.provide(Resilience.layer))])),
  Limits.layer,
  CompressionPreviews.layer,
  McpServers.layer,
  MemoryEntries.layer,
  RtkTools.layer,
  CompressionCombos.layer,
  Skills.layer,
  AcpAgents.layer.pipe(Layer.provideMerge(Detector.layer)),
  ProviderModels.layer,
  ProviderNodes.layer,
  Proxies.layer.pipe(Layer.provide(FreeProxies.layer)),
  QuotaGroups.layer,
  SettingsChanges.layer,
  Guardrails.layer,
  SystemControl.layer,
  UsageExport.layer.pipe(Layer.provide(UsageExportRepo.layer)),
  UsageHistory.layer.pipe(Layer.provide([CallSumsRepo.layer, UsageHistoryRepo.layer])),
  UsageReports.layer.pipe(Layer.provide(UsageSearchRepo.layer)),
  Webhooks.layer,
  Layer.mergeAll(ModelCatalog.layer, SystemHealth.layer, QuotaChecks.layer).pipe(Layer.provideMerge(Resilience.layer))
).pipe(
  Layer.provideMerge(Layer.mergeAll(IssueLimits.layer, configurationCopies.pipe(Layer.provideMerge(rehearsals)))),
  Layer.provide(ConnectionRecords.layer),
  Layer.provide(Layer.mergeAll(ConfigChanges.layer, KeyChanges.layer, ObservedState.layer))
)

/** Layers for the server. */
export const served = Layer.mergeAll(
  management,
  DirectReplay.layer,
  Replay.layer.pipe(Layer.provide(InnerRequests.layer))
)

/** Providers that the operator added, for commands that work on the data folder by themselves. */
export const localNodes = ProviderNodes.layer.pipe(
  Layer.provide(Layer.mergeAll(ConfigChanges.layer, ConnectionRecords.layer)),
  Layer.provide(ObservedState.layerLocal)
)

/** Layers for commands that work on the data folder by themselves. */
export const localManagement = Layer.mergeAll(Connections.layer, Keys.layer).pipe(
  Layer.provide(
    OperatorSpending.layerDirect.pipe(Layer.provide(Layer.orDie(PriceBook.layer.pipe(Layer.provide(priceOverrides)))))
  ),
  Layer.provide(ConnectionRecords.layer),
  Layer.provide(Layer.mergeAll(ConfigChanges.layer, KeyChanges.layerLocal, ObservedState.layerLocal))
)
