/**
 * The composition root: every Layer of the service is put together here and nowhere else.
 * Tests take the same groups and swap the lowest pieces (configuration, database, upstreams).
 */
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as AdminPassword from "../subjects/auth/AdminPassword.ts"
import * as ApiKeys from "../subjects/auth/ApiKeys.ts"
import * as AuditLog from "../subjects/auth/AuditLog.ts"
import * as AuditQueue from "../subjects/auth/AuditQueue.ts"
import * as Gate from "../subjects/auth/Gate.ts"
import * as OwnerToken from "../subjects/auth/OwnerToken.ts"
import * as Sessions from "../subjects/auth/sessions/Sessions.ts"
import * as Dns from "../net/egress/Dns.ts"
import * as Mail from "../net/egress/Mail.ts"
import * as GuardedFetch from "../net/egress/GuardedFetch.ts"
import * as PublicDownload from "../net/egress/PublicDownload.ts"
import * as PublicFetch from "../net/egress/PublicFetch.ts"
import * as Upstream from "../net/egress/Upstream.ts"
import { layerFromEnvironment } from "../net/egress/UpstreamSettings.ts"
import * as Batches from "../subjects/batches/service.ts"
import * as BatchRetention from "../subjects/batches/BatchRetention.ts"
import * as BatchRunner from "../subjects/batches/BatchRunner.ts"
import * as LineAsker from "../subjects/batches/LineAsker.ts"
import * as ProviderBatches from "../subjects/batches/provider/ProviderBatches.ts"
import * as Results from "../subjects/batches/provider/Results.ts"
import * as LineGate from "../subjects/batches/LineGate.ts"
import * as EvalRunner from "../subjects/evals/EvalRunner.ts"
import * as Events from "../observe/Events.ts"
import * as Files from "../subjects/files/service.ts"
import type { ProcessRole } from "../platform/programs/Siblings.ts"
import { type SiblingWorkers, WorkersBeside } from "../platform/programs/SiblingWorkers.ts"
import { nameOf } from "../plane/state/link/WorkerLinks.ts"
import { Claims, none as noClaims } from "../plane/state/Claims.ts"
import * as AdoptedRows from "../plane/workers/AdoptedRows.ts"
import * as NodeWatch from "../plane/workers/NodeWatch.ts"
import { besideNodes, limitsOfProcess } from "./nodes.ts"
import * as ConfigWatch from "../plane/workers/ConfigWatch.ts"
import * as SentEvents from "../plane/workers/SentEvents.ts"
import * as SharedHealth from "../plane/workers/SharedHealth.ts"
import * as SharedPlaces from "../plane/workers/SharedPlaces.ts"
import * as SharedRequests from "../plane/workers/SharedRequests.ts"
import * as SharedOwnerToken from "../plane/workers/SharedOwnerToken.ts"
import * as SharedTelemetry from "../plane/workers/SharedTelemetry.ts"
import * as SharedRenewals from "../plane/workers/SharedRenewals.ts"
import * as WorkerAccounts from "../plane/workers/WorkerAccounts.ts"
import * as LeasedKeyLimits from "../plane/ledger/leased/LeasedKeyLimits.ts"
import * as WorkerLeases from "../plane/ledger/leased/WorkerLeases.ts"
import * as SentRows from "../plane/workers/SentRows.ts"
import * as OwnerLinks from "../entry/relay/OwnerLinks.ts"
import * as OwnerListener from "../entry/relay/OwnerListener.ts"
import { relayTo } from "../entry/relay/Relay.ts"
import * as WorkerFigures from "../entry/relay/WorkerFigures.ts"
import * as WorkerLink from "../entry/relay/WorkerLink.ts"
import type { StoreError, StoreFailure } from "../store/Errors.ts"
import { RunningWorkers } from "../store/DataFolder.ts"
import * as Elsewhere from "./elsewhere.ts"
import * as Flags from "../subjects/flags/service.ts"
import * as GatewaySettings from "../subjects/flags/StoredFlags.ts"
import * as Edge from "../entry/server/Edge.ts"
import * as BatchEndpoint from "../entry/files/BatchEndpoint.ts"
import * as FileEndpoint from "../entry/files/FileEndpoint.ts"
import * as Directory from "../agents/mcp/Directory.ts"
import * as SharedPlugins from "../agents/plugins/registry/SharedPlugins.ts"
import * as AgentTasks from "../agents/a2a/Tasks.ts"
import * as A2aEndpoint from "../entry/a2a/A2aEndpoint.ts"
import * as KeyChanges from "../plane/ledger/KeyChanges.ts"
import * as ScimEndpoint from "../entry/scim/ScimEndpoint.ts"
import * as McpEndpoint from "../entry/mcp/McpEndpoint.ts"
import * as Upstreams from "../agents/mcp/upstream/Upstreams.ts"
import * as JobEndpoint from "../entry/jobs/JobEndpoint.ts"
import * as ResponseEndpoint from "../entry/jobs/ResponseEndpoint.ts"
import * as MediaJobs from "../plane/jobs/MediaJobs.ts"
import * as Forms from "../entry/forms/Forms.ts"
import * as RequestGuard from "../entry/server/RequestGuard.ts"
import * as Listener from "../entry/listening/Listener.ts"
import * as ManagementEndpoint from "../entry/management/ManagementEndpoint.ts"
import * as LongLived from "../entry/listening/LongLived.ts"
import * as OpenStreams from "../entry/listening/OpenStreams.ts"
import * as InspectorFeed from "../entry/live/InspectorFeed.ts"
import * as LiveFeed from "../entry/live/LiveFeed.ts"
import * as LivePort from "../entry/server/LivePort.ts"
import * as ResponsesSocket from "../entry/ws/ResponsesSocket.ts"
import * as HttpServer from "../entry/server/Server.ts"
import * as TunnelListener from "../entry/listening/TunnelListener.ts"
import * as Explain from "../plane/Explain.ts"
import * as LazyBridge from "../agents/bridge/LazyBridge.ts"
import * as LazyCapture from "../observe/capture/LazyCapture.ts"
import * as LazyInspector from "../observe/inspector/LazyInspector.ts"
import * as LazyPlayground from "../agents/playground/LazyPlayground.ts"
import * as Idempotency from "../plane/features/idempotency/Idempotency.ts"
import * as BackgroundPipeline from "../plane/request/BackgroundPipeline.ts"
import * as InnerPipeline from "../plane/request/InnerPipeline.ts"
import * as RunningRequests from "../plane/request/RunningRequests.ts"
import * as ModelSearches from "../plane/request/ModelSearches.ts"
import * as InnerRequests from "../plane/InnerRequests.ts"
import * as ModelCatalogue from "../plane/catalogue/ModelCatalogue.ts"
import * as Decisions from "../plane/features/guardrails/Decisions.ts"
import * as StopSignal from "../plane/request/StopSignal.ts"
import * as GatewayCapture from "../plane/tap/GatewayCapture.ts"
import * as TrafficTap from "../plane/tap/TrafficTap.ts"
import * as BackupSchedule from "../subjects/backups/BackupSchedule.ts"
import * as SkillBlocks from "../subjects/skills/service.ts"
import * as AnswerCache from "../plane/cache/AnswerCache.ts"
import * as CompressionAnalytics from "../plane/compression/Analytics.ts"
import * as Profiles from "../plane/compression/Profiles.ts"
import * as RawOutputs from "../plane/compression/RawOutputs.ts"
import * as RtkFilters from "../plane/compression/rtk/RtkFilters.ts"
import * as Memories from "../plane/memory/Memories.ts"
import * as Tokeniser from "../plane/tokens/Tokeniser.ts"
import * as EventLoop from "../platform/EventLoop.ts"
import * as IdGen from "../platform/IdGen.ts"
import * as Lifecycle from "../platform/Lifecycle.ts"
import * as ProcessFacts from "../platform/ProcessFacts.ts"
import * as Timers from "../platform/Timers.ts"
import * as Catalog from "../plane/providers/Catalog.ts"
import * as ModelLists from "../plane/providers/ModelLists.ts"
import * as ProxyChecks from "../plane/providers/ProxyChecks.ts"
import * as ProxyPlan from "../plane/providers/ProxyPlan.ts"
import * as ModelSync from "../plane/providers/ModelSync.ts"
import * as TokenRefresh from "../plane/providers/oauth/TokenRefresh.ts"
import * as ProviderCalls from "../plane/providers/ProviderCalls.ts"
import * as BodyBudget from "../plane/resilience/BodyBudget.ts"
import * as Slices from "../plane/resilience/Slices.ts"
import * as HealthChanges from "../plane/resilience/HealthChanges.ts"
import * as Breakers from "../plane/resilience/breaker/Breakers.ts"
import * as ConnectionLimiter from "../plane/resilience/ConnectionLimiter.ts"
import * as ConcurrencyGate from "../plane/resilience/ConcurrencyGate.ts"
import * as Cooldowns from "../plane/resilience/cooldown/Cooldowns.ts"
import * as Hooks from "../agents/plugins/hooks/Hooks.ts"
import * as LazyPlugins from "../agents/plugins/LazyPlugins.ts"
import * as AppConfig from "../platform/AppConfig.ts"
import * as LoadShedder from "../plane/resilience/LoadShedder.ts"
import * as Lockouts from "../plane/resilience/lockout/Lockouts.ts"
import * as Settings from "../plane/resilience/Settings.ts"
import * as DecisionArchive from "../plane/routing/records/DecisionArchive.ts"
import * as DecisionLog from "../plane/routing/records/DecisionLog.ts"
import * as Affinity from "../plane/routing/decide/Affinity.ts"
import * as LeaderboardSync from "../plane/routing/auto/LeaderboardSync.ts"
import * as RouterStrategies from "../plane/routing/auto/RouterStrategies.ts"
import * as Engine from "../plane/routing/decide/Engine.ts"
import * as QuotaWindows from "../plane/routing/quota/QuotaWindows.ts"
import * as QuotaShareUsage from "../plane/routing/quota/QuotaShareUsage.ts"
import * as Resolutions from "../plane/routing/resolve/Resolutions.ts"
import * as RouterMemory from "../plane/routing/decide/RouterMemory.ts"
import * as RoutingSettings from "../plane/routing/RoutingSettings.ts"
import * as SearchCounts from "../plane/search/SearchCounts.ts"
import * as Searches from "../plane/search/Searches.ts"
import * as Simulator from "../observe/simulation/Simulator.ts"
import * as EvalScores from "../plane/routing/stats/EvalScores.ts"
import * as PerformanceStats from "../plane/routing/stats/PerformanceStats.ts"
import * as TargetHealth from "../plane/routing/health/TargetHealth.ts"
import * as Database from "../store/Database.ts"
import { closingLayer } from "../store/engine/Client.ts"
import * as DataLock from "../store/DataLock.ts"
import * as AuditRepo from "../subjects/audit/repo.ts"
import * as PluginRepo from "../subjects/plugins/repo.ts"
import * as Repos from "../store/Repos.generated.ts"
import * as Reservations from "../store/usage/Reservations.ts"
import * as Secrets from "../store/secrets/Secrets.ts"
import * as UsageJournal from "../store/usage/UsageJournal.ts"
import type { Tunnels } from "../net/tunnels/Tunnels.ts"
import type { MeshTools } from "../net/tunnels/mesh/MeshTools.ts"
import * as PriceSync from "../observe/usage/PriceSync.ts"
import * as PriceBook from "../observe/usage/PriceBook.ts"
import * as UsageRetention from "../observe/usage/UsageRetention.ts"
import * as Telemetry from "../observe/usage/Telemetry.ts"
import * as LogSink from "../observe/usage/telemetry/LogSink.ts"
import * as Otlp from "../observe/usage/telemetry/Otlp.ts"
import * as Deliveries from "../subjects/webhooks/Deliveries.ts"
import * as Outbox from "../subjects/webhooks/Outbox.ts"
import * as Sender from "../subjects/webhooks/Sender.ts"
import { inference } from "./inference.ts"
import { flagStore, priceOverrides } from "./settingsTables.ts"
import { caches } from "./caches.ts"
import { tunnels } from "./tunnels.ts"

const platform = Layer.mergeAll(IdGen.layer, Timers.layer)

/** The database and everything that is only tables. */
const tables = Repos.layer.pipe(Layer.provideMerge(Secrets.layer), Layer.provideMerge(Database.layer))

/** The store for a command that works on the data folder by itself; a running server does not hinder reading. */
export const storeLayer = tables.pipe(Layer.provideMerge(DataLock.layerOnDemand), Layer.provideMerge(platform))

/** The store for a command that changes the data folder by itself: no server runs or starts meanwhile. */
export const exclusiveStoreLayer = tables.pipe(Layer.provideMerge(DataLock.layer), Layer.provideMerge(platform))

const flags = Flags.layer.pipe(Layer.provide(flagStore))

const access = Gate.layer.pipe(
  Layer.provideMerge(AdminPassword.layer),
  Layer.provideMerge(Layer.mergeAll(Sessions.layer, ApiKeys.layer, OwnerToken.layer))
)

const upstreamSettings = Layer.unwrapEffect(
  Effect.map(Settings.Settings, (settings) => layerFromEnvironment(() => settings.current().timeouts.connectMs))
)

/** Outbound layers, with nothing above them. Tests that fake upstreams still use them: the fakes are real sockets. */
export const egress = Layer.mergeAll(
  Upstream.layer,
  PublicFetch.layer,
  PublicDownload.layer,
  GuardedFetch.layer,
  Mail.layer
).pipe(Layer.provide(Layer.mergeAll(Dns.layer, upstreamSettings)), Layer.provideMerge(ProxyPlan.layer))

/** Layers of the state of providers, connections and models. */
const resilience = Layer.mergeAll(
  Breakers.layer,
  Cooldowns.layer,
  Lockouts.layer,
  ConnectionLimiter.layer.pipe(Layer.provideMerge(ConcurrencyGate.layer)),
  LoadShedder.layer,
  BodyBudget.layer,
  Slices.layer,
  Events.layer
)

const settings = Settings.layer.pipe(
  Layer.provide(
    Layer.effect(
      Settings.Defaults,
      Effect.map(AppConfig.AppConfig, ({ maxInFlight }) => Settings.defaultsFor(maxInFlight))
    )
  )
)

const foundation = HealthChanges.layer.pipe(
  Layer.provideMerge(resilience),
  Layer.provideMerge(Layer.mergeAll(flags, GatewaySettings.layer, settings))
)

const providers = Layer.mergeAll(ModelSync.layer, ProxyChecks.layer).pipe(
  Layer.provideMerge(ProviderCalls.layer),
  Layer.provideMerge(TokenRefresh.layer),
  Layer.provideMerge(Catalog.layer),
  Layer.provideMerge(Layer.mergeAll(ModelLists.layer, egress))
)

/** Layers in which the processes of a gateway differ (docs/workers.md). */
interface Parts<Journal, JournalR, Limits, LimitsR, RunningR, BesideR> {
  readonly journal: Layer.Layer<Journal, StoreFailure, JournalR>
  readonly limits: Layer.Layer<Limits, StoreError | StoreFailure, LimitsR>
  readonly running: Layer.Layer<RunningRequests.RunningRequests, never, RunningR>
  /** Work beside requests, over everything below the faces. */
  readonly beside: Layer.Layer<never, never, BesideR>
  /** The store as the others see it. */
  readonly store: typeof tables
}

const recordingWith = <Out, E, R>(journal: Layer.Layer<Out, E, R>) =>
  Layer.mergeAll(
    UsageRetention.layer.pipe(Layer.provideMerge(journal)),
    Database.reads,
    PriceBook.layer.pipe(Layer.provide(priceOverrides)),
    DecisionLog.layer.pipe(Layer.provide(DecisionArchive.layer)),
    // After the journal has brought in the usage rows of a run that died: they have what its memory missed.
    RouterMemory.layer.pipe(Layer.provide(journal)),
    EvalScores.layer,
    PerformanceStats.layer,
    QuotaWindows.layer,
    Telemetry.layer.pipe(Layer.provide(Layer.mergeAll(LogSink.layer, Otlp.layer)))
  )

/** Layers that choose the targets of requests. */
const routing = Layer.mergeAll(Engine.layer, Simulator.layer).pipe(
  Layer.provide(LeaderboardSync.layer),
  Layer.provideMerge(QuotaShareUsage.layer),
  Layer.provideMerge(Layer.mergeAll(Resolutions.layer, TargetHealth.layer, Affinity.layer, RouterStrategies.layer)),
  Layer.provideMerge(RoutingSettings.layer)
)

const webhooks = Deliveries.layer.pipe(Layer.provide(Sender.layer))

const evals = EvalRunner.layer.pipe(Layer.provide(InnerRequests.layer), Layer.provideMerge(inference))

const compression = Layer.mergeAll(CompressionAnalytics.layer, RtkFilters.layer, Profiles.layer).pipe(
  Layer.provideMerge(Layer.mergeAll(RawOutputs.layer, Tokeniser.layer))
)

/** Everything below the faces, over a configuration and a store. */
const engineWith = <Journal, JournalR, Limits, LimitsR, RunningR, BesideR>({
  journal,
  limits,
  running
}: Parts<Journal, JournalR, Limits, LimitsR, RunningR, BesideR>) =>
  Layer.mergeAll(
    caches.pipe(Layer.provide(Idempotency.layer)),
    evals,
    ModelCatalogue.layer,
    Explain.layer,
    webhooks,
    PriceSync.layer
  ).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        routing,
        Hooks.layer,
        BackgroundPipeline.layer,
        InnerPipeline.layer,
        running,
        ModelSearches.layer,
        StopSignal.layer,
        TrafficTap.layer,
        Decisions.layer
      )
    ),
    Layer.provideMerge(limits),
    Layer.provideMerge(
      Layer.mergeAll(
        providers,
        // The events of requests are written with their rows, also with those that an ended process left.
        recordingWith(journal.pipe(Layer.provideMerge(Outbox.layer))),
        access,
        AnswerCache.layer,
        Memories.layer,
        compression
      )
    ),
    Layer.provideMerge(foundation),
    Layer.provideMerge(platform)
  )

/** The parts of a gateway that is one process. */
const alone = {
  journal: UsageJournal.layer,
  limits: limitsOfProcess.pipe(Layer.provideMerge(Reservations.layer)),
  running: RunningRequests.layer,
  beside: besideNodes,
  store: NodeWatch.heldLayer.pipe(Layer.provide(platform), Layer.provideMerge(tables))
}

export const engine = engineWith(alone)

const searches = Searches.layer.pipe(Layer.provideMerge(SearchCounts.layer))

/** Layers that store objects of callers: files, and batches that read and write them. */
const objects = Layer.mergeAll(
  FileEndpoint.layer,
  Forms.layer,
  BatchEndpoint.layer.pipe(
    Layer.provide(Batches.layer),
    Layer.provide(BatchRunner.layer),
    Layer.provide(ProviderBatches.layer.pipe(Layer.provide(Results.layer))),
    Layer.provide(LineAsker.layer.pipe(Layer.provideMerge(LineGate.layer), Layer.provide(InnerRequests.layer))),
    Layer.provide(EventLoop.layer)
  ),
  BatchRetention.layer
).pipe(Layer.provide(Files.layer))

const jobs = Layer.mergeAll(JobEndpoint.layer, ResponseEndpoint.layer).pipe(Layer.provideMerge(MediaJobs.layer))

const managementEndpoint = ManagementEndpoint.layer(() => import("./management.ts").then(({ served }) => served))

const skillBlocks = SkillBlocks.layer(() => import("./skillBlocks.ts").then(({ skillBlocks: sandbox }) => sandbox))

const agents = Layer.mergeAll(McpEndpoint.layer, A2aEndpoint.layer).pipe(
  Layer.provide(Layer.mergeAll(managementEndpoint, InnerRequests.layer, searches, skillBlocks))
)

const directories = ScimEndpoint.layer.pipe(Layer.provide(KeyChanges.layer))

const lazyInspector = LazyInspector.layer(() => import("./inspector.ts").then(({ inspector }) => inspector))

const auditLog = AuditLog.layer.pipe(Layer.provide(AuditRepo.layer))

const lazyCapture = LazyCapture.layer(() => import("./capture.ts").then(({ capture }) => capture)).pipe(
  Layer.provide(auditLog)
)

const lazyPlayground = LazyPlayground.layer(() => import("./playground.ts").then(({ playground }) => playground)).pipe(
  Layer.provide(InnerRequests.layer)
)

const lazyPlugins = LazyPlugins.layer(() => import("./plugins.ts").then(({ plugins }) => plugins)).pipe(
  Layer.provide(PluginRepo.layer)
)

/** The service over these tunnels. Tests give others. */
const generationWith = <E, R, Journal, JournalR, Limits, LimitsR, RunningR, BesideR>(
  tunnels: Layer.Layer<Tunnels | MeshTools, E, R>,
  parts: Parts<Journal, JournalR, Limits, LimitsR, RunningR, BesideR>
) =>
  LivePort.layer.pipe(
    Layer.provideMerge(HttpServer.layer),
    Layer.provideMerge(closingLayer),
    Layer.provideMerge(
      Layer.mergeAll(
        Edge.layer.pipe(Layer.provide(Layer.mergeAll(objects, jobs, searches, agents, directories))),
        agents,
        RequestGuard.layer,
        ResponsesSocket.layer,
        managementEndpoint
      )
    ),
    Layer.provideMerge(Layer.mergeAll(LiveFeed.layer, InspectorFeed.layer, AgentTasks.layer, Directory.layer)),
    Layer.provideMerge(tunnels),
    Layer.provideMerge(
      Layer.mergeAll(
        Upstreams.layer,
        lazyPlayground,
        LazyBridge.layer.pipe(
          Layer.provideMerge(lazyCapture),
          Layer.provideMerge(GatewayCapture.layer),
          Layer.provideMerge(lazyInspector)
        )
      )
    ),
    Layer.provideMerge(lazyPlugins.pipe(Layer.provideMerge(auditLog))),
    Layer.provide(Layer.mergeAll(OpenStreams.layer, LongLived.layer, ProcessFacts.layer, BackupSchedule.layer)),
    Layer.provide(parts.beside),
    Layer.provideMerge(engineWith(parts)),
    Layer.provideMerge(parts.store)
  )

/**
 * Layers that are held as long as the process lives: the lock against a second gateway, the listening socket, rows on
 * their way to the audit log.
 */
const heldWith = <LockE, LockR, ListenerE, ListenerR>(
  lock: Layer.Layer<DataLock.DataLock, LockE, LockR>,
  listener: Layer.Layer<Listener.Listener, ListenerE, ListenerR>
) => Layer.mergeAll(lock, TunnelListener.layer.pipe(Layer.provideMerge(listener)), AuditQueue.layer)

export const held = heldWith(DataLock.layer, Listener.layer)

/** The service; serves when it is built. A restart builds it anew over the same ports and the same locked folder. */
export const generation = generationWith(tunnels, alone)

/** The same for the owner of the data folder, whose requests come from its workers (docs/workers.md). */
export const ownerHeld = ({ folder, port }: ProcessRole) =>
  heldWith(DataLock.layer, OwnerListener.layer(folder, port).pipe(Layer.provide(platform)))

export const ownerGeneration = ({ folder }: ProcessRole, workers: SiblingWorkers) =>
  generationWith(tunnels, {
    journal: AdoptedRows.layer,
    limits: WorkerAccounts.expectingLayer.pipe(
      Layer.provideMerge(WorkerLeases.layer),
      Layer.provideMerge(Reservations.layer)
    ),
    running: SharedRequests.ownerLayer,
    beside: WorkerAccounts.beginLayer.pipe(
      Layer.provide(
        Layer.mergeAll(
          SentEvents.ownerLayer,
          SharedTelemetry.ownerLayer,
          SharedPlaces.ownerLayer,
          SharedRenewals.ownerLayer,
          SharedOwnerToken.ownerLayer,
          WorkerAccounts.layer
        )
      ),
      Layer.provideMerge(WorkerFigures.ownerLayer)
    ),
    store: tables
  }).pipe(
    Layer.provide(Layer.mergeAll(ConfigWatch.settledLayer, SharedHealth.ownerLayer, SharedPlugins.ownerLayer)),
    Layer.provide(OwnerLinks.layer(folder, workers)),
    Layer.provide(Layer.succeed(WorkersBeside, workers)),
    Layer.provide(Layer.sync(RunningWorkers, () => workers.running().map(nameOf))),
    Layer.provide(platform)
  )

/** The same for a worker: it serves what asks a model, over the owner's database. */
export const workerHeld = heldWith(Elsewhere.dataLock, Listener.layer)

export const workerGeneration = (role: ProcessRole) =>
  generationWith(Elsewhere.tunnels, {
    journal: SentRows.layer(role),
    limits: LeasedKeyLimits.layer.pipe(Layer.provideMerge(Reservations.workerLayer(nameOf(role)))),
    running: RunningRequests.layer,
    beside: Layer.mergeAll(
      SentEvents.workerLayer,
      SharedRequests.workerLayer,
      SharedTelemetry.workerLayer,
      SharedOwnerToken.workerLayer,
      WorkerFigures.workerLayer.pipe(Layer.provide(Layer.merge(OpenStreams.layer, ProcessFacts.layer))),
      ConfigWatch.layer
    ),
    store: ConfigWatch.heldLayer.pipe(Layer.provideMerge(tables))
  }).pipe(
    Layer.provide(
      Layer.mergeAll(
        relayTo(role),
        SharedHealth.workerLayer,
        SharedPlaces.workerLayer,
        SharedRenewals.workerLayer,
        SharedPlugins.workerLayer
      )
    ),
    Layer.provide(Layer.succeed(Claims, noClaims)),
    Layer.provide(WorkerLink.layer(role)),
    Layer.provide(platform)
  )

/** The whole service for another program that embeds it, without restarts. */
export const gatewayWith = <E, R>(tunnels: Layer.Layer<Tunnels | MeshTools, E, R>) =>
  generationWith(tunnels, alone).pipe(Layer.provideMerge(held), Layer.provide(Lifecycle.layerNone))

export const gateway = gatewayWith(tunnels)
