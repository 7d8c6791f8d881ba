/** The services of a rehearsal: those of the management, over a copy of the configuration in memory. Nothing of them asks an upstream by itself. */
import * as SqlClient from "@effect/sql/SqlClient"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Logger from "effect/Logger"
import * as LogLevel from "effect/LogLevel"
import * as ApiKeys from "../subjects/auth/ApiKeys.ts"
import { AuditLog } from "../subjects/auth/AuditLog.ts"
import * as Profiles from "../plane/compression/Profiles.ts"
import * as GatewaySettings from "../subjects/flags/StoredFlags.ts"
import * as KeyChanges from "../plane/ledger/KeyChanges.ts"
import * as CloudSync from "../subjects/sync/service.ts"
import * as Combos from "../subjects/combos/service.ts"
import * as ConfigChanges from "../subjects/ConfigChanges.ts"
import * as ConnectionRecords from "../subjects/connections/ConnectionRecords.ts"
import * as Connections from "../subjects/connections/service.ts"
import * as IssueReports from "../subjects/issueReports/service.ts"
import * as Keys from "../subjects/keys/service.ts"
import * as McpServers from "../subjects/mcpServers/service.ts"
import * as ModelAliases from "../subjects/aliases/service.ts"
import * as ObservedState from "../subjects/connections/ObservedState.ts"
import * as ProviderNodes from "../subjects/nodes/service.ts"
import { ConfigurationCopies } from "../subjects/sync/ConfigurationCopies.ts"
import { Rehearsals } from "../subjects/configuration/Rehearsals.ts"
import * as Upstreams from "../agents/mcp/upstream/Upstreams.ts"
import * as Catalog from "../plane/providers/Catalog.ts"
import * as ModelLists from "../plane/providers/ModelLists.ts"
import * as Breakers from "../plane/resilience/breaker/Breakers.ts"
import * as Cooldowns from "../plane/resilience/cooldown/Cooldowns.ts"
import * as Lockouts from "../plane/resilience/lockout/Lockouts.ts"
import * as Events from "../observe/Events.ts"
import { copyConfiguration } from "../store/ConfigurationCopy.ts"
import { StoreError } from "../store/Errors.ts"
import * as Repos from "../store/Repos.generated.ts"
import * as Sql from "../store/Sql.ts"
import * as PriceBook from "../observe/usage/PriceBook.ts"
import * as OperatorSpending from "../subjects/connections/OperatorSpending.ts"
import { priceOverrides } from "./settingsTables.ts"

const noAudit = Layer.succeed(
  AuditLog,
  AuditLog.of({ record: () => Effect.void, page: () => Effect.succeed({ rows: [], total: 0 }) })
)

/** Cloud sync is not carried out at a copy, so that it needs none of its own there. */
const noCopies = Layer.succeed(
  ConfigurationCopies,
  ConfigurationCopies.of({ open: Effect.dieMessage("A copy has no copies.") })
)

const storeOf = (live: SqlClient.SqlClient, withKeys: boolean) =>
  Repos.layer.pipe(
    Layer.provideMerge(
      Layer.effectDiscard(
        Effect.flatMap(SqlClient.SqlClient, (scratch) => copyConfiguration(live, scratch, withKeys))
      ).pipe(Layer.provideMerge(Sql.layerMemory))
    )
  )

const servicesOver = (live: SqlClient.SqlClient, withKeys: boolean) =>
  Layer.mergeAll(
    CloudSync.layer.pipe(Layer.provide(noCopies), Layer.provideMerge(Layer.mergeAll(Combos.layer, ModelAliases.layer))),
    Connections.layer.pipe(Layer.provide(OperatorSpending.layerNone)),
    IssueReports.layer,
    Keys.layer,
    McpServers.layer.pipe(Layer.provide(Upstreams.layer)),
    ProviderNodes.layer,
    noAudit
  ).pipe(
    Layer.provide(ConnectionRecords.layer),
    Layer.provide(Layer.mergeAll(ConfigChanges.layer, KeyChanges.layerLocal, ObservedState.layerLocal)),
    Layer.provideMerge(Catalog.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        ApiKeys.layer,
        Breakers.layer,
        Cooldowns.layer,
        GatewaySettings.layer,
        Lockouts.layer,
        ModelLists.layer,
        PriceBook.layer.pipe(Layer.provide(priceOverrides)),
        Profiles.layer
      )
    ),
    Layer.provideMerge(storeOf(live, withKeys)),
    // A copy has no listeners.
    Layer.provideMerge(Layer.fresh(Events.layer))
  )

type Needed = Layer.Layer.Context<ReturnType<typeof servicesOver>>

export const rehearsals: Layer.Layer<Rehearsals, never, Needed | SqlClient.SqlClient> = Layer.effect(
  Rehearsals,
  Effect.gen(function* () {
    const live = yield* SqlClient.SqlClient
    const context = yield* Effect.context<Needed>()
    return Rehearsals.of({
      open: ({ withKeys }) =>
        Layer.build(servicesOver(live, withKeys)).pipe(
          Effect.provide(context),
          Effect.mapError((cause) =>
            cause._tag === "StoreError" ? cause : new StoreError({ operation: "Rehearsals.open", cause })
          ),
          // What the start has said of the configuration is not said again.
          Logger.withMinimumLogLevel(LogLevel.None)
        )
    })
  })
)

export const configurationCopies: Layer.Layer<ConfigurationCopies, never, Rehearsals> = Layer.effect(
  ConfigurationCopies,
  Effect.map(Rehearsals, (copies) => ConfigurationCopies.of({ open: copies.open({ withKeys: false }) }))
)
