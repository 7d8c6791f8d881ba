/** The management plane over real HTTP on a free port, with SQLite in memory and every room below it real. */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Redacted from "effect/Redacted"
import { createServer, request as httpRequest } from "node:http"
import type { AddressInfo } from "node:net"
import * as NoPlugins from "../../support/NoPlugins.ts"
import * as AgentTasks from "../../../src/agents/a2a/Tasks.ts"
import * as Directory from "../../../src/agents/mcp/Directory.ts"
import * as Upstreams from "../../../src/agents/mcp/upstream/Upstreams.ts"
import { match } from "../../../src/contract/Routes.ts"
import { watched as management } from "../../../src/app/management.ts"
import { flagStore, priceOverrides } from "../../../src/app/settingsTables.ts"
import * as AdminPassword from "../../../src/subjects/auth/AdminPassword.ts"
import * as ApiKeys from "../../../src/subjects/auth/ApiKeys.ts"
import * as AuditLog from "../../../src/subjects/auth/AuditLog.ts"
import * as AuditQueue from "../../../src/subjects/auth/AuditQueue.ts"
import * as Gate from "../../../src/subjects/auth/Gate.ts"
import * as OwnerToken from "../../../src/subjects/auth/OwnerToken.ts"
import * as Sessions from "../../../src/subjects/auth/sessions/Sessions.ts"
import * as Dns from "../../../src/net/egress/Dns.ts"
import * as ProxyPlan from "../../../src/plane/providers/ProxyPlan.ts"
import * as Mail from "../../../src/net/egress/Mail.ts"
import * as PublicFetch from "../../../src/net/egress/PublicFetch.ts"
import * as Upstream from "../../../src/net/egress/Upstream.ts"
import * as UpstreamSettings from "../../../src/net/egress/UpstreamSettings.ts"
import * as Events from "../../../src/observe/Events.ts"
import * as Flags from "../../../src/subjects/flags/service.ts"
import * as GatewaySettings from "../../../src/subjects/flags/StoredFlags.ts"
import * as Listener from "../../../src/entry/listening/Listener.ts"
import * as GatewayCapture from "../../../src/plane/tap/GatewayCapture.ts"
import * as TrafficTap from "../../../src/plane/tap/TrafficTap.ts"
import * as LazyCapture from "../../../src/observe/capture/LazyCapture.ts"
import * as InspectorFeed from "../../../src/entry/live/InspectorFeed.ts"
import * as InnerPipeline from "../../../src/plane/request/InnerPipeline.ts"
import * as InnerRequests from "../../../src/plane/InnerRequests.ts"
import * as RunningRequests from "../../../src/plane/request/RunningRequests.ts"
import * as LazyInspector from "../../../src/observe/inspector/LazyInspector.ts"
import * as LongLived from "../../../src/entry/listening/LongLived.ts"
import * as OpenStreams from "../../../src/entry/listening/OpenStreams.ts"
import * as LazyPlayground from "../../../src/agents/playground/LazyPlayground.ts"
import * as LiveFeed from "../../../src/entry/live/LiveFeed.ts"
import * as TunnelListener from "../../../src/entry/listening/TunnelListener.ts"
import * as Management from "../../../src/entry/management/Management.ts"
import * as AppConfig from "../../../src/platform/AppConfig.ts"
import * as IdGen from "../../../src/platform/IdGen.ts"
import * as Lifecycle from "../../../src/platform/Lifecycle.ts"
import * as ProcessFacts from "../../../src/platform/ProcessFacts.ts"
import * as Catalog from "../../../src/plane/providers/Catalog.ts"
import * as ModelLists from "../../../src/plane/providers/ModelLists.ts"
import * as ProviderCalls from "../../../src/plane/providers/ProviderCalls.ts"
import * as TokenRefresh from "../../../src/plane/providers/oauth/TokenRefresh.ts"
import * as BodyBudget from "../../../src/plane/resilience/BodyBudget.ts"
import * as Breakers from "../../../src/plane/resilience/breaker/Breakers.ts"
import * as ConcurrencyGate from "../../../src/plane/resilience/ConcurrencyGate.ts"
import * as Cooldowns from "../../../src/plane/resilience/cooldown/Cooldowns.ts"
import * as Lockouts from "../../../src/plane/resilience/lockout/Lockouts.ts"
import * as Memories from "../../../src/plane/memory/Memories.ts"
import * as Settings from "../../../src/plane/resilience/Settings.ts"
import * as Slices from "../../../src/plane/resilience/Slices.ts"
import type { DecisionRecord } from "../../../src/subjects/routing/entity.ts"
import { ModelNotFound, NoTarget } from "../../../src/contract/domain/Errors.ts"
import * as RouterStrategies from "../../../src/plane/routing/auto/RouterStrategies.ts"
import * as Explainer from "../../../src/plane/routing/decide/Explainer.ts"
import * as DecisionArchive from "../../../src/plane/routing/records/DecisionArchive.ts"
import * as DecisionLog from "../../../src/plane/routing/records/DecisionLog.ts"
import * as QuotaWindows from "../../../src/plane/routing/quota/QuotaWindows.ts"
import * as QuotaShareUsage from "../../../src/plane/routing/quota/QuotaShareUsage.ts"
import * as RoutingSettings from "../../../src/plane/routing/RoutingSettings.ts"
import * as Simulator from "../../../src/observe/simulation/Simulator.ts"
import * as PerformanceStats from "../../../src/plane/routing/stats/PerformanceStats.ts"
import * as Backup from "../../../src/store/Backup.ts"
import * as ReadWorker from "../../../src/store/engine/ReadWorker.ts"
import * as AuditRepo from "../../../src/subjects/audit/repo.ts"
import * as Repos from "../../../src/store/Repos.generated.ts"
import * as Secrets from "../../../src/store/secrets/Secrets.ts"
import * as Sql from "../../../src/store/Sql.ts"
import * as UsageJournal from "../../../src/store/usage/UsageJournal.ts"
import * as PriceBook from "../../../src/observe/usage/PriceBook.ts"
import * as UsageRetention from "../../../src/observe/usage/UsageRetention.ts"
import * as Telemetry from "../../../src/observe/usage/Telemetry.ts"
import * as LogSink from "../../../src/observe/usage/telemetry/LogSink.ts"
import * as Otlp from "../../../src/observe/usage/telemetry/Otlp.ts"
import { compression } from "../../support/Compression.ts"
import * as FakeTunnels from "../../support/FakeTunnels.ts"
import { evals } from "../../support/Evals.ts"
import * as NoBridge from "../../support/NoBridge.ts"
import * as NoReplay from "../../support/NoReplay.ts"
import { noLeaderboard } from "../../support/Leaderboard.ts"
import { temporaryFolder } from "../../support/TemporaryFolder.ts"
import * as TestTimers from "../../support/TestTimers.ts"
import { keyLimits } from "../../support/KeyLimits.ts"
import { webhookDeliveries } from "../../support/WebhookDeliveries.ts"

export const adminKey = "test-admin-key-0123456789"
export const adminPassword = "correct horse battery staple"

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | Array<string> | undefined>>
  readonly text: string
  /** What the JSON body holds at a dotted path: `error.code`, `keys.0.id`; undefined where there is nothing. */
  readonly at: (path: string) => unknown
}

export interface Call {
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  /** Sent as JSON, or as it is when a string. */
  readonly body?: unknown
}

export class TestApp extends Context.Tag("test/TestApp")<
  TestApp,
  {
    readonly url: string
    /** A raw request; the path is sent exactly as given. */
    readonly call: (path: string, call?: Call) => Effect.Effect<Answer>
    /** The same with the admin key. */
    readonly admin: (path: string, call?: Call) => Effect.Effect<Answer>
  }
>() {}

const valueAt = (json: unknown, path: string): unknown =>
  path.split(".").reduce<unknown>((value, step) => {
    if (typeof value !== "object" || value === null) return undefined
    return Object.entries(value).find(([name]) => name === step)?.[1]
  }, json)

const send = (port: number, path: string, call: Call): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const payload =
      call.body === undefined ? null : typeof call.body === "string" ? call.body : JSON.stringify(call.body)
    const request = httpRequest(
      {
        port,
        host: "127.0.0.1",
        path,
        method: call.method ?? "GET",
        headers: {
          ...(payload === null
            ? {}
            : { "content-type": "application/json", "content-length": String(Buffer.byteLength(payload)) }),
          ...call.headers
        }
      },
      (response) => {
        const chunks: Array<Buffer> = []
        response.on("data", (chunk: Buffer) => chunks.push(chunk))
        response.on("end", () => {
          const text = Buffer.concat(chunks).toString("utf8")
          const isJson = (response.headers["content-type"] ?? "").includes("json")
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            text,
            at: (place) => valueAt(isJson && text !== "" ? JSON.parse(text) : null, place)
          })
        })
        response.on("error", reject)
      }
    )
    request.on("error", reject)
    request.end(payload ?? undefined)
  })

const makeApp = Effect.gen(function* () {
  const { handle } = yield* Management.makePlane
  const server = yield* Effect.acquireRelease(
    Effect.async<ReturnType<typeof createServer>>((resume) => {
      const created = createServer((request, response) =>
        handle(match(request.method ?? "GET", request.url ?? "/"), request, response)
      )
      created.listen(0, "127.0.0.1", () => resume(Effect.succeed(created)))
    }),
    (running) =>
      Effect.async<void>((resume) => {
        running.close(() => resume(Effect.void))
        running.closeAllConnections()
      })
  )
  const { port } = server.address() as AddressInfo
  const call = (path: string, options: Call = {}) => Effect.promise(() => send(port, path, options))
  return TestApp.of({
    url: `http://127.0.0.1:${port}`,
    call,
    admin: (path, options = {}) =>
      call(path, { ...options, headers: { authorization: `Bearer ${adminKey}`, ...options.headers } })
  })
})

const tables = Layer.mergeAll(Repos.layer, UsageJournal.layerMemory, Backup.layer, ReadWorker.layerMemory).pipe(
  Layer.provideMerge(Secrets.layerTest),
  Layer.provideMerge(Sql.layerMemory)
)

const access = Gate.layer.pipe(
  Layer.provideMerge(AdminPassword.layer),
  Layer.provideMerge(Layer.mergeAll(Sessions.layer, ApiKeys.layer, OwnerToken.layer))
)

const egress = Layer.mergeAll(Upstream.layer, PublicFetch.layer, Mail.layer).pipe(
  Layer.provide(Layer.mergeAll(Dns.layer, UpstreamSettings.layerOf({ connectTimeoutMs: 2_000 }))),
  Layer.provideMerge(ProxyPlan.layer)
)

const providers = ProviderCalls.layer.pipe(
  Layer.provideMerge(TokenRefresh.layer),
  Layer.provideMerge(Catalog.layer),
  Layer.provideMerge(Layer.mergeAll(ModelLists.layer, egress))
)

/** Explains the model `known` and nothing else; what it was asked stands in the record. */
export const explained = (request: Explainer.ExplainRequest): DecisionRecord => ({
  requestId: "explained",
  requestedModel: request.model,
  combo: null,
  strategy: "auto",
  seed: request.seed ?? 1,
  ...(request.apiKeyId === null ? {} : { reason: `as ${request.apiKeyId}` }),
  weights: { health: 0.75, costInv: 0.25 },
  candidates: [
    {
      provider: "openai",
      connectionId: "c1",
      model: "gpt-4o",
      score: 0.875,
      factors: { health: 1, costInv: 0.5 },
      excluded: null
    },
    {
      provider: "groq",
      connectionId: "c2",
      model: "llama",
      score: null,
      factors: null,
      excluded: { rule: "breaker", until: "2030-01-01T00:00:00.000Z", detail: "The circuit breaker of groq is open" }
    }
  ],
  order: ["openai/gpt-4o"],
  attempts: [],
  chosen: null,
  relaxedFilters: Object.keys(request.headers)
})

const explainer = Layer.succeed(
  Explainer.Explainer,
  Explainer.Explainer.of({
    explain: (request) => {
      switch (request.model) {
        case "known":
          return Effect.succeed(explained(request))
        case "asleep":
          return new NoTarget({ model: request.model, reason: "nobody is there", retryAfterMs: 2_500 })
        default:
          return new ModelNotFound({ model: request.model, reason: "nobody has it", suggestions: ["known"] })
      }
    }
  })
)

const resilience = Layer.mergeAll(
  BodyBudget.layer,
  Slices.layer,
  Breakers.layer,
  Cooldowns.layer,
  Lockouts.layer,
  ConcurrencyGate.layer
)

const telemetry = Telemetry.layer.pipe(
  Layer.provide(Layer.merge(LogSink.layer, Otlp.layer)),
  Layer.provideMerge(ProcessFacts.layer)
)

const auditLog = AuditLog.layer.pipe(Layer.provide(Layer.merge(AuditRepo.layer, AuditQueue.layer)))

const rooms = Layer.provideMerge(
  Simulator.layer.pipe(Layer.provide(noLeaderboard), Layer.provideMerge(PerformanceStats.layer)),
  Layer.mergeAll(
    telemetry,
    UsageRetention.layer,
    Layer.mergeAll(auditLog, NoPlugins.layer, Events.layer),
    access,
    providers,
    AgentTasks.layer,
    Directory.layer,
    Upstreams.layer.pipe(Layer.provide(egress)),
    LiveFeed.layer.pipe(Layer.provide(Layer.mergeAll(access, Events.layer, LongLived.layer))),
    Layer.mergeAll(
      InspectorFeed.layer.pipe(Layer.provide(Layer.merge(access, LongLived.layer))),
      LazyCapture.layer(() => import("../../../src/app/capture.ts").then((m) => m.captureAlone)).pipe(
        Layer.provide(Layer.merge(auditLog, Events.layer))
      ),
      NoBridge.layer,
      NoReplay.layer,
      OpenStreams.layer,
      LazyPlayground.layer(() => import("../../../src/app/playground.ts").then((m) => m.playground)).pipe(
        Layer.provide(Layer.mergeAll(InnerRequests.layer.pipe(Layer.provide(InnerPipeline.layer)), TrafficTap.layer))
      ),
      GatewayCapture.layer
    ).pipe(
      Layer.provide(TrafficTap.layer),
      Layer.provideMerge(LazyInspector.layer(() => import("../../../src/app/inspector.ts").then((m) => m.inspector))),
      Layer.provide(
        Layer.mergeAll(
          PriceBook.layer.pipe(Layer.provide(priceOverrides)),
          DecisionLog.layer.pipe(Layer.provide(DecisionArchive.layer))
        )
      )
    ),
    webhookDeliveries.pipe(Layer.provide(egress)),
    DecisionLog.layer.pipe(Layer.provide(DecisionArchive.layer)),
    explainer,
    RouterStrategies.layer,
    QuotaShareUsage.layer.pipe(Layer.provideMerge(Layer.mergeAll(QuotaWindows.layer, providers))),
    resilience,
    PriceBook.layer.pipe(Layer.provide(priceOverrides))
  )
)

const listeners = TunnelListener.layer.pipe(Layer.provideMerge(Listener.layer))

const servicesWith = (tunnels: FakeTunnels.FakeTunnels) =>
  management.pipe(
    Layer.provideMerge(Layer.mergeAll(evals.pipe(Layer.provideMerge(keyLimits)), Memories.layer, compression)),
    Layer.provideMerge(rooms),
    Layer.provideMerge(tunnels.layer),
    Layer.provideMerge(Layer.mergeAll(Settings.layer, RoutingSettings.layer, GatewaySettings.layer)),
    Layer.provideMerge(Flags.layer.pipe(Layer.provide(flagStore))),
    Layer.provideMerge(Layer.merge(RunningRequests.layer, Events.layer)),
    Layer.provideMerge(Layer.mergeAll(IdGen.layer, TestTimers.layer, listeners, Lifecycle.layerNone)),
    Layer.provideMerge(tables)
  )

/** The plane under a configuration; without one, with an admin key and an admin password. */
export const layerOf = (config: Partial<AppConfig.AppConfigShape> = {}, tunnels = FakeTunnels.make()) =>
  Layer.scoped(TestApp, makeApp).pipe(
    Layer.provideMerge(servicesWith(tunnels)),
    Layer.provideMerge(NodeHttpClient.layer),
    Layer.provideMerge(
      Layer.unwrapScoped(
        Effect.map(temporaryFolder, (dataDir) =>
          AppConfig.layerOf({
            dataDir,
            adminKey: Redacted.make(adminKey),
            adminPassword: Redacted.make(adminPassword),
            maxBodyBytes: 64 * 1024,
            ...config
          })
        )
      )
    )
  )

/** Logs in and gives the headers a page of ours would send. */
export const logIn = Effect.gen(function* () {
  const app = yield* TestApp
  const answer = yield* app.call("/api/auth/login", { method: "POST", body: { password: adminPassword } })
  const [cookie = ""] = answer.headers["set-cookie"] ?? []
  return {
    answer,
    cookie: { cookie: cookie.split(";")[0] ?? "" },
    csrf: { "x-csrf-token": String(answer.at("csrfToken")) }
  }
})
