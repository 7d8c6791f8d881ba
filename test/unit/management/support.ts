/** The use cases over a real store in memory, with all services below them real. No provider is asked. */
import * as Events from "../../../src/observe/Events.ts"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { management } from "../../../src/app/management.ts"
import * as AdminPassword from "../../../src/subjects/auth/AdminPassword.ts"
import * as ApiKeys from "../../../src/subjects/auth/ApiKeys.ts"
import * as Sessions from "../../../src/subjects/auth/sessions/Sessions.ts"
import * as Dns from "../../../src/net/egress/Dns.ts"
import * as ProxyPlan from "../../../src/plane/providers/ProxyPlan.ts"
import * as Mail from "../../../src/net/egress/Mail.ts"
import * as PublicFetch from "../../../src/net/egress/PublicFetch.ts"
import * as Upstreams from "../../../src/agents/mcp/upstream/Upstreams.ts"
import * as Upstream from "../../../src/net/egress/Upstream.ts"
import * as UpstreamSettings from "../../../src/net/egress/UpstreamSettings.ts"
import * as Flags from "../../../src/subjects/flags/service.ts"
import * as FlagStore from "../../../src/subjects/flags/repo.ts"
import * as GatewaySettings from "../../../src/subjects/flags/StoredFlags.ts"
import * as Connections from "../../../src/subjects/connections/service.ts"
import * as ProviderNodes from "../../../src/subjects/nodes/service.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import * as Lifecycle from "../../../src/platform/Lifecycle.ts"
import * as Catalog from "../../../src/plane/providers/Catalog.ts"
import * as ModelLists from "../../../src/plane/providers/ModelLists.ts"
import * as ProviderCalls from "../../../src/plane/providers/ProviderCalls.ts"
import * as TokenRefresh from "../../../src/plane/providers/oauth/TokenRefresh.ts"
import * as Breakers from "../../../src/plane/resilience/breaker/Breakers.ts"
import * as ConcurrencyGate from "../../../src/plane/resilience/ConcurrencyGate.ts"
import * as Cooldowns from "../../../src/plane/resilience/cooldown/Cooldowns.ts"
import * as Lockouts from "../../../src/plane/resilience/lockout/Lockouts.ts"
import * as RouterStrategies from "../../../src/plane/routing/auto/RouterStrategies.ts"
import * as QuotaWindows from "../../../src/plane/routing/quota/QuotaWindows.ts"
import * as QuotaShareUsage from "../../../src/plane/routing/quota/QuotaShareUsage.ts"
import * as RoutingSettings from "../../../src/plane/routing/RoutingSettings.ts"
import * as DecisionLog from "../../../src/plane/routing/records/DecisionLog.ts"
import * as LazyInspector from "../../../src/observe/inspector/LazyInspector.ts"
import * as Backup from "../../../src/store/Backup.ts"
import * as PriceBook from "../../../src/observe/usage/PriceBook.ts"
import * as PerformanceStats from "../../../src/plane/routing/stats/PerformanceStats.ts"
import * as ReadWorker from "../../../src/store/engine/ReadWorker.ts"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import { settingsOf } from "../resilience/support.ts"
import { reposInMemory } from "../store/fixtures.ts"
import * as Slices from "../../../src/plane/resilience/Slices.ts"
import * as TestTimers from "../../support/TestTimers.ts"
import * as Memories from "../../../src/plane/memory/Memories.ts"
import { compression } from "../../support/Compression.ts"
import { evals } from "../../support/Evals.ts"
import { keyLimits } from "../../support/KeyLimits.ts"
import { webhookDeliveries } from "../../support/WebhookDeliveries.ts"

const egress = Layer.mergeAll(Upstream.layer, PublicFetch.layer, Mail.layer).pipe(
  Layer.provide(Layer.mergeAll(Dns.layer, UpstreamSettings.layerOf({ connectTimeoutMs: 2_000 }))),
  Layer.provideMerge(ProxyPlan.layer)
)

/** `environment`: variables that providers' keys are found in. */
export const layerOf = (environment: Readonly<Record<string, string>> = {}) =>
  management.pipe(
    Layer.provideMerge(Layer.mergeAll(evals.pipe(Layer.provideMerge(keyLimits)), Memories.layer, compression)),
    Layer.provideMerge(QuotaShareUsage.layer),
    Layer.provideMerge(Layer.mergeAll(ProviderCalls.layer, Upstreams.layer)),
    Layer.provideMerge(TokenRefresh.layer),
    Layer.provideMerge(Catalog.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        AdminPassword.layer.pipe(Layer.provideMerge(Sessions.layer)),
        ApiKeys.layer,
        Backup.layer,
        Breakers.layer,
        ConcurrencyGate.layer,
        Cooldowns.layer,
        egress,
        Lockouts.layer,
        ModelLists.layer,
        Layer.sync(DecisionLog.DecisionLog, () => DecisionLog.make(DecisionLog.inMemory)),
        LazyInspector.layer(() => Promise.reject(new Error("Nothing is captured here."))),
        PerformanceStats.layer,
        PriceBook.layerMemory,
        ReadWorker.layerMemory,
        QuotaWindows.layer,
        RouterStrategies.layer,
        RoutingSettings.layer,
        UsageJournal.layerMemory,
        webhookDeliveries.pipe(Layer.provide(egress))
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        settingsOf().layer,
        GatewaySettings.layer,
        Events.layer,
        Flags.layer.pipe(Layer.provide(FlagStore.layerMemory()))
      )
    ),
    Layer.provideMerge(Slices.layer),
    Layer.provideMerge(Layer.mergeAll(IdGen.layerCounting("id"), TestTimers.layer, Lifecycle.layerNone)),
    Layer.provideMerge(reposInMemory),
    Layer.provideMerge(
      AppConfig.layerOf({
        dataDir: "/nonexistent",
        envConnections: true,
        environment: new Map(Object.entries(environment))
      })
    )
  )

export const key = (text: string) => Redacted.make(text)

/** A node with one connection that has a key. */
export const nodeWithConnection = (prefix: string) =>
  Effect.gen(function* () {
    const nodes = yield* ProviderNodes.ProviderNodes
    const connections = yield* Connections.Connections
    const node = yield* nodes.create({
      name: prefix,
      prefix,
      type: "openai-compatible",
      baseUrl: "https://models.example/v1"
    })
    const { connection } = yield* connections.create({ provider: prefix, apiKey: key("first-key") })
    return { node, connection }
  })

/** A failure that only an operator can end. */
export const fail = (connectionId: string) =>
  Effect.map(Cooldowns.Cooldowns, (cooldowns) =>
    cooldowns.fail(connectionId, { baseCooldownMs: 3_000, maxBackoffSteps: 5 }, 0, {
      penalty: { _tag: "Terminal", status: "expired" },
      startedMs: 0,
      message: "no",
      type: "auth_expired",
      code: "401"
    })
  )

/** A model whose quota is used up. */
export const hold = (provider: string, connectionId: string) =>
  Effect.map(Lockouts.Lockouts, (lockouts) =>
    lockouts.hold({ provider, connectionId, model: "m" }, 0, "quota_exhausted", 60_000)
  )

/** Rate limits of the model `m`, as an answer's headers tell them. */
export const learnRates = (connectionId: string) =>
  Effect.map(QuotaWindows.QuotaWindows, (quotas) => {
    const headers: Readonly<Record<string, string>> = {
      "x-ratelimit-limit-requests": "100",
      "x-ratelimit-remaining-requests": "7",
      "x-ratelimit-reset-requests": "30s"
    }
    quotas.learn(connectionId, "m", (name) => headers[name] ?? null, 0)
  })
