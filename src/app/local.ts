/**
 * Services of commands that work on this machine's data folder without a server: the same ones over the same store, and
 * the pure functions that go with them. Imported dynamically by `src/cli` only.
 */
import type * as SqlClient from "@effect/sql/SqlClient"
import * as Layer from "effect/Layer"
import * as AdminPasswordRoom from "../subjects/auth/AdminPassword.ts"
import * as ApiKeysRoom from "../subjects/auth/ApiKeys.ts"
import * as Sessions from "../subjects/auth/sessions/Sessions.ts"
import * as Dns from "../net/egress/Dns.ts"
import * as ProxyPlan from "../plane/providers/ProxyPlan.ts"
import * as Upstream from "../net/egress/Upstream.ts"
import { layerFromEnvironment } from "../net/egress/UpstreamSettings.ts"
import * as Flags from "../subjects/flags/service.ts"
import * as GatewaySettings from "../subjects/flags/StoredFlags.ts"
import type { AppConfig } from "../platform/AppConfig.ts"
import * as CatalogRoom from "../plane/providers/Catalog.ts"
import * as ModelListsRoom from "../plane/providers/ModelLists.ts"
import * as ProviderCallsRoom from "../plane/providers/ProviderCalls.ts"
import * as TokenRefreshRoom from "../plane/providers/oauth/TokenRefresh.ts"
import * as Events from "../observe/Events.ts"
import { defaultResilience } from "../subjects/resilience/entity.ts"
import * as BreakersRoom from "../plane/resilience/breaker/Breakers.ts"
import * as LockoutsRoom from "../plane/resilience/lockout/Lockouts.ts"
import * as ResilienceSettings from "../plane/resilience/Settings.ts"
import * as CooldownsRoom from "../plane/resilience/cooldown/Cooldowns.ts"
import * as DataLock from "../store/DataLock.ts"
import type { StoreFailure } from "../store/Errors.ts"
import * as Database from "../store/Database.ts"
import { exclusiveStoreLayer, storeLayer } from "./layers.ts"
import { localManagement, localNodes } from "./management.ts"
import { flagStore } from "./settingsTables.ts"

export { AdminPassword } from "../subjects/auth/AdminPassword.ts"
export { connectionView, createdKeyView, nodeView } from "../entry/handling/Views.ts"
export { Connections } from "../subjects/connections/service.ts"
export { Keys } from "../subjects/keys/service.ts"
export { ProviderNodes } from "../subjects/nodes/service.ts"
export { BackedUpElsewhere, describeStoreFailure } from "../store/Errors.ts"
export { Catalog } from "../plane/providers/Catalog.ts"
export { ConnectionRepo } from "../subjects/connections/repo.ts"
export { listIn as backupsIn } from "../store/Backup.ts"
export * as Restore from "../store/restore/Restore.ts"
export { backupView } from "../entry/handling/Views.ts"
export { findIn as findBackup } from "../subjects/backups/service.ts"
export { resetSecrets } from "../store/secrets/ResetSecrets.ts"
export { storeLayer } from "./layers.ts"

const egress = Upstream.layer.pipe(
  Layer.provideMerge(ProxyPlan.layer),
  Layer.provide(
    Layer.mergeAll(
      Dns.layer,
      layerFromEnvironment(() => defaultResilience.timeouts.connectMs)
    )
  ),
  Layer.provide(GatewaySettings.layer),
  Layer.provideMerge(Flags.layer.pipe(Layer.provide(flagStore)))
)

/** Connections and sign-ins, over a store. */
const services = localManagement.pipe(
  Layer.provideMerge(ProviderCallsRoom.layer),
  Layer.provideMerge(TokenRefreshRoom.layer),
  Layer.provideMerge(CatalogRoom.layer),
  Layer.provideMerge(Layer.mergeAll(ModelListsRoom.layer, egress)),
  Layer.provideMerge(CooldownsRoom.layer),
  // There are no listeners here.
  Layer.provide(Events.layer),
  Layer.provideMerge(AdminPasswordRoom.layer),
  Layer.provideMerge(Layer.mergeAll(Sessions.layer, ApiKeysRoom.layer))
)

/** The store, the connections and the sign-ins. A gateway may be running beside it. */
export const localLayer = services.pipe(Layer.provideMerge(storeLayer))

/** The same without a gateway beside it. */
export const exclusiveLayer = services.pipe(Layer.provideMerge(exclusiveStoreLayer))

/** The providers that the operator added. */
const nodes = localNodes.pipe(
  Layer.provideMerge(Layer.mergeAll(BreakersRoom.layer, LockoutsRoom.layer)),
  Layer.provide(ResilienceSettings.layer)
)

/** The same, and the providers that the operator added. */
export const nodesLayer = nodes.pipe(Layer.provideMerge(localLayer))

/** The same without a gateway beside it. */
export const exclusiveNodesLayer = nodes.pipe(Layer.provideMerge(exclusiveLayer))

/** The data folder without the database in it, for who replaces that. Refused while a gateway is running. */
export const folderLayer = DataLock.layer

/** The bare database, whatever the master key is. Refused while a gateway is running. */
export const recoveryLayer: Layer.Layer<SqlClient.SqlClient, StoreFailure, AppConfig> = Database.layer.pipe(
  Layer.provide(DataLock.layer)
)
