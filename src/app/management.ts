/** The use cases of the management plane, over the services they work on. Imported dynamically, so that the start does not pay for them. */
import * as Layer from "effect/Layer"
import * as DirectReplay from "../agents/bridge/DirectReplay.ts"
import * as Replay from "../agents/bridge/Replay.ts"
import * as InnerRequests from "../plane/InnerRequests.ts"
import * as KeyChanges from "../plane/ledger/KeyChanges.ts"
import * as ConfigChanges from "../subjects/ConfigChanges.ts"
import * as ConnectionRecords from "../subjects/connections/ConnectionRecords.ts"
import * as Attention from "../subjects/attention/Attention.ts"
import * as Connections from "../subjects/connections/service.ts"
import * as Keys from "../subjects/keys/service.ts"
import * as ObservedState from "../subjects/connections/ObservedState.ts"
import * as ProviderNodes from "../subjects/nodes/service.ts"
import * as FreeProxies from "../plane/providers/FreeProxies.ts"
import * as QuotaChecks from "../subjects/registeredKeys/QuotaChecks.ts"
import * as SystemHealth from "../subjects/system/SystemHealth.ts"
import * as UsageExport from "../subjects/usage/UsageExport.ts"
import * as UsageSeries from "../subjects/usage/UsageSeries.ts"
import * as OperatorSpending from "../subjects/connections/OperatorSpending.ts"
import * as PriceBook from "../observe/usage/PriceBook.ts"
import { subjectServices } from "./subjectServices.generated.ts"
import { priceOverrides } from "./settingsTables.ts"
import { configurationCopies, rehearsals } from "./rehearsals.ts"
import * as AcpAgents from "../agents/tools/AcpAgents.ts"
import * as Detector from "../agents/tools/detection/Detector.ts"
import * as Skills from "../agents/skills/Skills.ts"
import * as BillSumsRepo from "../subjects/bills/BillSumsRepo.ts"
import * as CallSumsRepo from "../subjects/usage/CallSumsRepo.ts"
import * as FacetsRepo from "../subjects/usage/FacetsRepo.ts"
import * as Reports from "../subjects/bills/Reports.ts"
import * as SeriesRepo from "../subjects/usage/SeriesRepo.ts"
import * as UsageExportRepo from "../subjects/usage/UsageExportRepo.ts"
import * as UsageHistoryRepo from "../subjects/usageHistory/repo.ts"
import * as UsageSearchRepo from "../subjects/usage/UsageSearchRepo.ts"

/** Layers that only services of the subjects need. */
const beneath = Layer.mergeAll(
  BillSumsRepo.layer,
  CallSumsRepo.layer,
  ConnectionRecords.layer,
  FacetsRepo.layer,
  FreeProxies.layer,
  OperatorSpending.layer,
  UsageHistoryRepo.layer,
  UsageSearchRepo.layer
)

/** Layers that change the configuration and report its state. */
export const management = Layer.mergeAll(
  AcpAgents.layer.pipe(Layer.provideMerge(Detector.layer)),
  QuotaChecks.layer,
  Skills.layer,
  SystemHealth.layer,
  UsageExport.layer.pipe(Layer.provide(UsageExportRepo.layer)),
  UsageSeries.layer.pipe(Layer.provide(SeriesRepo.layer))
).pipe(
  Layer.provideMerge(subjectServices),
  Layer.provideMerge(configurationCopies.pipe(Layer.provideMerge(rehearsals))),
  Layer.provide(beneath),
  Layer.provide(Layer.mergeAll(ConfigChanges.layer, KeyChanges.layer, ObservedState.layer))
)

/** Layers that look at everything there is, too. */
export const watched = Layer.merge(Attention.layer, Reports.layer).pipe(Layer.provideMerge(management))

/** Layers for the server. */
export const served = Layer.mergeAll(watched, DirectReplay.layer, Replay.layer.pipe(Layer.provide(InnerRequests.layer)))

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
