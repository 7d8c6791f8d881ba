/** The use cases of the management plane, over the services they work on. Imported dynamically, so that the start does not pay for them. */
import * as Layer from "effect/Layer"
import * as Evals from "../subjects/evals/Evals.ts"
import * as DirectReplay from "../agents/bridge/DirectReplay.ts"
import * as Replay from "../agents/bridge/Replay.ts"
import * as InnerRequests from "../plane/inference/InnerRequests.ts"
import * as Backups from "../subjects/management/Backups.ts"
import * as CloudMembers from "../subjects/management/CloudMembers.ts"
import * as CloudSync from "../subjects/management/CloudSync.ts"
import * as Combos from "../subjects/management/Combos.ts"
import * as KeyChanges from "../plane/ledger/KeyChanges.ts"
import * as ConfigChanges from "../subjects/management/ConfigChanges.ts"
import * as ConnectionRecords from "../subjects/management/ConnectionRecords.ts"
import * as Connections from "../subjects/management/Connections.ts"
import * as IssueLimits from "../subjects/management/IssueLimits.ts"
import * as IssueReports from "../subjects/management/IssueReports.ts"
import * as Keys from "../subjects/management/Keys.ts"
import * as Limits from "../subjects/management/Limits.ts"
import * as CompressionCombos from "../subjects/management/CompressionCombos.ts"
import * as RtkTools from "../subjects/management/RtkTools.ts"
import * as Guardrails from "../subjects/management/Guardrails.ts"
import * as CompressionPreviews from "../subjects/management/CompressionPreviews.ts"
import * as McpServers from "../subjects/management/McpServers.ts"
import * as MemoryEntries from "../subjects/management/MemoryEntries.ts"
import * as ModelAliases from "../subjects/management/ModelAliases.ts"
import * as ModelCatalog from "../subjects/management/ModelCatalog.ts"
import * as ObservedState from "../subjects/management/ObservedState.ts"
import * as ProviderModels from "../subjects/management/ProviderModels.ts"
import * as ProviderNodes from "../subjects/management/ProviderNodes.ts"
import * as Proxies from "../subjects/management/Proxies.ts"
import * as FreeProxies from "../plane/providers/FreeProxies.ts"
import * as QuotaGroups from "../subjects/management/QuotaGroups.ts"
import * as QuotaChecks from "../subjects/management/QuotaChecks.ts"
import * as RegisteredKeys from "../subjects/management/RegisteredKeys.ts"
import * as Resilience from "../subjects/management/Resilience.ts"
import * as SignIns from "../subjects/management/SignIns.ts"
import * as SettingsChanges from "../subjects/management/SettingsChanges.ts"
import * as SystemControl from "../subjects/management/SystemControl.ts"
import * as SystemHealth from "../subjects/management/SystemHealth.ts"
import * as UsageExport from "../subjects/management/UsageExport.ts"
import * as UsageHistory from "../subjects/management/UsageHistory.ts"
import * as OperatorSpending from "../subjects/management/OperatorSpending.ts"
import * as PriceBook from "../observe/usage/PriceBook.ts"
import { priceOverrides } from "./settingsTables.ts"
import * as UsageReports from "../subjects/management/UsageReports.ts"
import * as ToolSettings from "../subjects/management/ToolSettings.ts"
import { configurationCopies, rehearsals } from "./rehearsals.ts"
import * as Webhooks from "../subjects/management/Webhooks.ts"
import * as AcpAgents from "../agents/tools/AcpAgents.ts"
import * as Detector from "../agents/tools/detection/Detector.ts"
import * as Skills from "../agents/skills/Skills.ts"
import * as CallSumsRepo from "../store/repo/CallSumsRepo.ts"
import * as UsageExportRepo from "../store/repo/UsageExportRepo.ts"
import * as UsageHistoryRepo from "../store/repo/UsageHistoryRepo.ts"
import * as UsageSearchRepo from "../store/repo/UsageSearchRepo.ts"

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
