/**
 * The management plane: the endpoint of a matched request asks the gate, reads the body within its limit, and runs its handler. Every answer,
 * also a refusal, carries the version and a request id.
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRespondable from "@effect/platform/HttpServerRespondable"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import { BadRequest, MethodNotAllowed, NotFound, statusOf } from "../api/Errors.ts"
import { type ManagementKey, type ManagementRoute, managementRoutes, managementTable } from "../api/ManagementRoutes.ts"
import type { Found, Match } from "../api/Routes.ts"
import type { AdminPassword } from "../auth/AdminPassword.ts"
import { AuditLog } from "../auth/AuditLog.ts"
import type { ApiKeys } from "../auth/ApiKeys.ts"
import type { Gate } from "../auth/Gate.ts"
import { isSafeMethod } from "../auth/Csrf.ts"
import * as Login from "../auth/Login.ts"
import type { Sessions } from "../auth/Sessions.ts"
import type { Flags } from "../flags/Flags.ts"
import type { GatewaySettings } from "../flags/GatewaySettings.ts"
import type { Backups as BackupManagement } from "../management/Backups.ts"
import type { CloudSync } from "../management/CloudSync.ts"
import type { Combos as ComboManagement } from "../management/Combos.ts"
import type { Connections } from "../management/Connections.ts"
import type { IssueLimits as IssueLimitManagement } from "../management/IssueLimits.ts"
import type { IssueReports as IssueReporting } from "../management/IssueReports.ts"
import type { Keys as KeyManagement } from "../management/Keys.ts"
import type { Limits as LimitManagement } from "../management/Limits.ts"
import type { CompressionCombos as CompressionComboManagement } from "../management/CompressionCombos.ts"
import type { RtkTools } from "../management/RtkTools.ts"
import type { Guardrails as GuardrailChanges } from "../management/Guardrails.ts"
import type { CompressionAnalytics } from "../compression/Analytics.ts"
import type { CompressionPreviews } from "../management/CompressionPreviews.ts"
import type { MemoryEntries } from "../management/MemoryEntries.ts"
import type { ModelAliases as AliasManagement } from "../management/ModelAliases.ts"
import type { ModelCatalog as Catalogs } from "../management/ModelCatalog.ts"
import type { ProviderModels as ModelManagement } from "../management/ProviderModels.ts"
import type { Proxies as ProxyManagement } from "../management/Proxies.ts"
import type { ProviderNodes as NodeManagement } from "../management/ProviderNodes.ts"
import type { QuotaGroups as GroupManagement } from "../management/QuotaGroups.ts"
import type { QuotaChecks } from "../management/QuotaChecks.ts"
import type { RegisteredKeys as RegisteredKeyManagement } from "../management/RegisteredKeys.ts"
import type { Resilience as ResilienceManagement } from "../management/Resilience.ts"
import type { SignIns } from "../management/SignIns.ts"
import type { SettingsChanges } from "../management/SettingsChanges.ts"
import type { SystemControl } from "../management/SystemControl.ts"
import type { SystemHealth } from "../management/SystemHealth.ts"
import type { UsageExport } from "../management/UsageExport.ts"
import type { UsageHistory as UsageHistories } from "../management/UsageHistory.ts"
import type { UsageReports } from "../management/UsageReports.ts"
import type { Evals as Evaluations } from "../evals/Evals.ts"
import type { Webhooks as WebhookManagement } from "../management/Webhooks.ts"
import type { AppConfig } from "../platform/AppConfig.ts"
import type { ProcessFacts } from "../platform/ProcessFacts.ts"
import { IdGen } from "../platform/IdGen.ts"
import { version } from "../platform/Version.ts"
import type { BodyBudget } from "../resilience/BodyBudget.ts"
import type { Settings } from "../resilience/Settings.ts"
import type { DecisionLog } from "../routing/records/DecisionLog.ts"
import type { Explainer } from "../routing/decide/Explainer.ts"
import type { RoutingSettings } from "../routing/RoutingSettings.ts"
import type { AgentTasks } from "../a2a/Tasks.ts"
import type { AcpAgents } from "../tools/AcpAgents.ts"
import type { ToolSettings } from "../management/ToolSettings.ts"
import type { Detector } from "../tools/detection/Detector.ts"
import type { Directory } from "../mcp/Directory.ts"
import type { Upstreams } from "../mcp/upstream/Upstreams.ts"
import type { McpAuditRepo } from "../store/repo/McpAuditRepo.ts"
import type { McpServers as McpServerManagement } from "../management/McpServers.ts"
import type { Skills } from "../skills/Skills.ts"
import type { Simulator } from "../simulation/Simulator.ts"
import type { PerformanceStats } from "../routing/stats/PerformanceStats.ts"
import type { MeshTools } from "../tunnels/mesh/MeshTools.ts"
import type { Tunnels } from "../tunnels/Tunnels.ts"
import type { UsageRetention } from "../usage/history/UsageRetention.ts"
import type { PriceBook } from "../usage/PriceBook.ts"
import type { Listener } from "./Listener.ts"
import type { Telemetry } from "../usage/Telemetry.ts"
import type { Json } from "../wire/json/Json.ts"
import { fromCause, internal, render } from "./handlers/Answers.ts"
import * as A2a from "./handlers/A2a.ts"
import * as Acp from "./handlers/Acp.ts"
import * as CliTools from "./handlers/CliTools.ts"
import * as Mcp from "./handlers/Mcp.ts"
import * as McpServers from "./handlers/McpServers.ts"
import * as AgentSkills from "./handlers/AgentSkills.ts"
import * as Audit from "./handlers/Audit.ts"
import * as Auth from "./handlers/Auth.ts"
import * as AgentBridge from "./handlers/AgentBridge.ts"
import * as Capture from "./handlers/Capture.ts"
import * as Backups from "./handlers/Backups.ts"
import * as Combos from "./handlers/Combos.ts"
import * as FlagHandlers from "./handlers/Flags.ts"
import * as GatewaySettingsHandlers from "./handlers/GatewaySettings.ts"
import * as Inspector from "./handlers/Inspector.ts"
import * as IssueLimits from "./handlers/IssueLimits.ts"
import * as IssueReports from "./handlers/IssueReports.ts"
import * as Keys from "./handlers/Keys.ts"
import * as Limits from "./handlers/Limits.ts"
import * as Live from "./handlers/Live.ts"
import * as CompressionCombos from "./handlers/CompressionCombos.ts"
import * as Rtk from "./handlers/Rtk.ts"
import * as Guardrails from "./handlers/Guardrails.ts"
import * as Compression from "./handlers/Compression.ts"
import * as Memory from "./handlers/Memory.ts"
import * as ModelAliases from "./handlers/ModelAliases.ts"
import * as ModelCatalog from "./handlers/ModelCatalog.ts"
import * as OAuth from "./handlers/OAuth.ts"
import * as PluginHandlers from "./handlers/Plugins.ts"
import * as Playground from "./handlers/Playground.ts"
import * as Policies from "./handlers/Policies.ts"
import * as Pricing from "./handlers/Pricing.ts"
import * as ProviderModels from "./handlers/ProviderModels.ts"
import * as ProviderNodes from "./handlers/ProviderNodes.ts"
import * as Providers from "./handlers/Providers.ts"
import * as Proxies from "./handlers/Proxies.ts"
import * as QuotaGroups from "./handlers/QuotaGroups.ts"
import * as RateLimits from "./handlers/RateLimits.ts"
import * as RegisteredKeys from "./handlers/RegisteredKeys.ts"
import * as Resilience from "./handlers/Resilience.ts"
import * as Routing from "./handlers/Routing.ts"
import * as RoutingSettingsHandlers from "./handlers/RoutingSettings.ts"
import * as Sync from "./handlers/Sync.ts"
import * as System from "./handlers/System.ts"
import * as TelemetryHandlers from "./handlers/Telemetry.ts"
import * as TunnelHandlers from "./handlers/Tunnels.ts"
import * as Usage from "./handlers/Usage.ts"
import * as Evals from "./handlers/Evals.ts"
import * as Webhooks from "./handlers/Webhooks.ts"
import * as UsageHistory from "./handlers/UsageHistory.ts"
import type { CaptureDoor } from "../capture/CaptureDoor.ts"
import type { PluginsDoor } from "../plugins/PluginsDoor.ts"
import type { PlaygroundDoor } from "../playground/PlaygroundDoor.ts"
import type { BridgeDoor } from "../bridge/BridgeDoor.ts"
import type { Replay } from "../bridge/Replay.ts"
import type { GatewayCapture } from "../inference/tap/GatewayCapture.ts"
import type { InspectorDoor } from "../inspector/InspectorDoor.ts"
import type { Timers } from "../platform/Timers.ts"
import type { InspectorFeed } from "./inspector/InspectorFeed.ts"
import type { LiveFeed } from "./live/LiveFeed.ts"
import type { OpenStreams } from "./OpenStreams.ts"
import * as Access from "./management/Access.ts"
import { clientAddress } from "./ClientAddress.ts"
import { type Inner, InnerCaller } from "./InnerCaller.ts"
import { CurrentTrail, type Outcome, rowOf, type Trail } from "./AuditTrail.ts"
import * as WholeBody from "./management/WholeBody.ts"
import { logRefusal } from "./RefusalLog.ts"
import { wrongPath } from "./WrongPath.ts"

/** What is done to the configuration, and said of its state. */
export type UseCases =
  | AliasManagement
  | BackupManagement
  | Catalogs
  | CloudSync
  | ComboManagement
  | Connections
  | Evaluations
  | GroupManagement
  | IssueLimitManagement
  | IssueReporting
  | KeyManagement
  | LimitManagement
  | CompressionComboManagement
  | RtkTools
  | GuardrailChanges
  | CompressionPreviews
  | MemoryEntries
  | ModelManagement
  | NodeManagement
  | ProxyManagement
  | QuotaChecks
  | RegisteredKeyManagement
  | Replay
  | ResilienceManagement
  | SettingsChanges
  | AcpAgents
  | McpServerManagement
  | Detector
  | ToolSettings
  | SignIns
  | Skills
  | SystemControl
  | SystemHealth
  | UsageExport
  | UsageHistories
  | UsageReports
  | WebhookManagement

/** What the plane needs beside them. */
export type PlaneServices =
  | Directory
  | Upstreams
  | McpAuditRepo
  | AgentTasks
  | AdminPassword
  | ApiKeys
  | AuditLog
  | AppConfig
  | BodyBudget
  | CompressionAnalytics
  | DecisionLog
  | Explainer
  | Flags
  | Gate
  | GatewaySettings
  | IdGen
  | Listener
  | PerformanceStats
  | LiveFeed
  | OpenStreams
  | CaptureDoor
  | BridgeDoor
  | GatewayCapture
  | InspectorDoor
  | PluginsDoor
  | InspectorFeed
  | PlaygroundDoor
  | Timers
  | PriceBook
  | ProcessFacts
  | RoutingSettings
  | Sessions
  | Settings
  | Simulator
  | Telemetry
  | Tunnels
  | MeshTools
  | UsageRetention

export type ManagementServices = PlaneServices | UseCases

const groups = Layer.mergeAll(
  A2a.layer,
  Mcp.layer,
  McpServers.layer,
  Acp.layer,
  CliTools.layer,
  AgentSkills.layer,
  Audit.layer,
  Auth.layer,
  Backups.layer,
  Combos.layer,
  FlagHandlers.layer,
  GatewaySettingsHandlers.layer,
  IssueLimits.layer,
  IssueReports.layer,
  Keys.layer,
  Limits.layer,
  Live.layer,
  Capture.layer,
  AgentBridge.layer,
  PluginHandlers.layer,
  Inspector.layer,
  Playground.layer,
  Guardrails.layer,
  Compression.layer,
  Memory.layer,
  CompressionCombos.layer,
  Rtk.layer,
  ModelAliases.layer,
  ModelCatalog.layer,
  OAuth.layer,
  Policies.layer,
  Pricing.layer,
  ProviderModels.layer,
  ProviderNodes.layer,
  Providers.layer,
  Proxies.layer,
  QuotaGroups.layer,
  RateLimits.layer,
  RegisteredKeys.layer,
  Resilience.layer,
  Routing.layer,
  RoutingSettingsHandlers.layer,
  Sync.layer,
  System.layer,
  TunnelHandlers.layer,
  Usage.layer,
  Webhooks.layer,
  Evals.layer,
  TelemetryHandlers.layer,
  UsageHistory.layer
)

/** The endpoints, collected on the framework's router, and what only this plane uses. */
const plane = groups.pipe(
  Layer.provide(Layer.mergeAll(Access.layer, WholeBody.layer)),
  Layer.provideMerge(HttpApiBuilder.Router.Live),
  Layer.provide(Login.layer),
  Layer.provideMerge(NodeHttpServer.layerContext)
)

const refusalOf = (
  found: Exclude<Match, Found>,
  { headers, method, url }: HttpServerRequest.HttpServerRequest
): BadRequest | NotFound | MethodNotAllowed => {
  switch (found._tag) {
    case "Malformed":
      return new BadRequest({ message: "The path is not well-formed.", code: "malformed_path" })
    case "Unknown":
      return new NotFound({ message: wrongPath(method, url, headers).message })
    case "WrongMethod":
      return new MethodNotAllowed({
        message: `This route does not answer ${method}.`,
        allow: found.routes.map((route) => route.method)
      })
  }
}

const identified = (requestId: string) =>
  HttpServerResponse.setHeaders({
    "X-Gateway-Version": version,
    "X-Gateway-Request-Id": requestId,
    "X-Content-Type-Options": "nosniff"
  })

type Endpoint = HttpRouter.Route<unknown, HttpRouter.HttpRouter.DefaultServices>

/** Runs the handler of a route that was matched: what the framework's own router would do from here on. */
const answerOf = (endpoint: Endpoint, { parameters, query, route }: Found) => {
  const context = HttpRouter.RouteContext.of({
    [HttpRouter.RouteContextTypeId]: HttpRouter.RouteContextTypeId,
    params: parameters,
    route: endpoint
  })
  const answer = Effect.flatMap(endpoint.handler, HttpServerRespondable.toResponse)
  return (endpoint.uninterruptible ? answer : Effect.interruptible(answer)).pipe(
    Effect.provideService(HttpRouter.RouteContext, context),
    Effect.provideService(HttpServerRequest.ParsedSearchParams, query),
    Effect.withSpan(`management ${route.key}`, { attributes: { "http.route": route.path } })
  )
}

/** The answer to a matched request. Never fails; a bug becomes a sanitised 500 and a line in the log. */
type App = (found: Match) => HttpApp.Default

/** They ask models, as inference does, or nothing at all. */
const changesNothing: ReadonlySet<ManagementKey> = new Set<ManagementKey>([
  "playground.improvePrompt",
  "playground.compare",
  "playground.snippets"
])

/** A request that may change something; `GET` and `HEAD` leave no row, and captured traffic is no change. */
const mayChange = (found: Match): found is Found =>
  found._tag === "Found" &&
  found.route.plane === "management" &&
  found.route.tier !== "ingest" &&
  !changesNothing.has(found.route.key) &&
  !isSafeMethod(found.route.method)

const assemble: Effect.Effect<
  App,
  never,
  HttpApiBuilder.Router | HttpRouter.HttpRouter.DefaultServices | IdGen | AuditLog
> = Effect.gen(function* () {
  const ids = yield* IdGen
  const audit = yield* AuditLog
  const router = yield* HttpApiBuilder.Router.router
  const services = yield* Effect.context<HttpRouter.HttpRouter.DefaultServices>()
  const endpoints = new Map(Array.from(router.routes, (endpoint) => [`${endpoint.method} ${endpoint.path}`, endpoint]))

  const answer = (found: Match, requestId: string) =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { method, url } = request
      if (found._tag === "Found") {
        // The contract has one path of each route, whichever of its spellings was matched.
        const { route } = found
        const path = route.plane === "management" ? managementTable[route.key].path : route.path
        const endpoint = endpoints.get(`${route.method} ${path}`)
        if (endpoint !== undefined) return yield* answerOf(endpoint as Endpoint, found)
      }
      const refused = refusalOf(found._tag === "Found" ? { _tag: "Unknown" } : found, request)
      yield* logRefusal({ requestId, method, url, status: statusOf[refused._tag], reason: refused.message })
      return yield* refused
    })

  /** The one place where rows of the audit log are made: each request that may change something has one, however it ends. */
  const recorded = (found: Found, requestId: string, trail: Trail, outcome: Outcome) =>
    Effect.gen(function* () {
      const { route, parameters, query } = found
      if (route.plane !== "management") return
      const ip = yield* clientAddress
      const atMs = yield* Clock.currentTimeMillis
      yield* audit.record(rowOf({ route, parameters, query, trail, outcome, requestId, atMs, ip }))
    })

  return (found) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const requestId = ids.next(nowMs)
      const trail: Trail | null = mayChange(found) ? { principal: null, body: undefined } : null
      const noted = (outcome: Outcome) =>
        trail !== null && mayChange(found) ? recorded(found, requestId, trail, outcome) : Effect.void
      return answer(found, requestId).pipe(
        Effect.provideService(CurrentTrail, trail),
        Effect.tap((response) => noted({ _tag: "Answered", response })),
        Effect.catchAllCause((cause) => {
          if (Cause.isInterruptedOnly(cause)) return Effect.zipRight(noted({ _tag: "Left" }), Effect.interrupt)
          const error = fromCause(cause)
          return Effect.zipRight(
            Effect.zipRight(
              noted({ _tag: "Refused", error: error ?? internal }),
              error === null ? Effect.logError("A management request failed", cause) : Effect.void
            ),
            Effect.succeed(render(error ?? internal, requestId))
          )
        }),
        Effect.map(identified(requestId)),
        Effect.annotateLogs("requestId", requestId)
      )
    }).pipe(Effect.provide(services))
})

/** A call of an endpoint from inside the gateway. */
export interface InnerCall {
  readonly key: ManagementKey
  /** Values of the parameters in the path. */
  readonly path: Readonly<Record<string, string>>
  readonly query: Readonly<Record<string, string>>
  readonly caller: Inner
}

export interface InnerAnswer {
  readonly status: number
  /** Null: there is none; the text of one that is no JSON. */
  readonly body: Json
}

export interface Plane {
  /** Answers node's requests. */
  readonly handle: (found: Match, request: IncomingMessage, response: ServerResponse) => void
  /** Asks an endpoint as a request over HTTP does; errors are answers. Who may do so was judged by the one who asks. */
  readonly ask: (call: InnerCall) => Effect.Effect<InnerAnswer>
}

/** The value of an answer; of one that is no JSON its text. */
const bodyOf = (text: string, contentType: string): Json =>
  contentType.startsWith("application/json") ? (JSON.parse(text) as Json) : text

const jsonOf = ({ body, status }: HttpServerResponse.HttpServerResponse): InnerAnswer => ({
  status,
  body: body._tag === "Uint8Array" ? bodyOf(Buffer.from(body.body).toString(), body.contentType) : null
})

const routeOf: ReadonlyMap<ManagementKey, ManagementRoute> = new Map(
  managementRoutes.toReversed().map((route) => [route.key, route])
)

const askOf =
  (app: App): Plane["ask"] =>
  ({ caller, key, path, query }) =>
    Effect.suspend(() => {
      const route = routeOf.get(key)
      if (route === undefined) return Effect.dieMessage(`There is no route '${key}'.`)
      const target = route.path.replaceAll(/:(\w+)/g, (_, name: string) => encodeURIComponent(path[name] ?? ""))
      const url = `http://gateway.invalid${target}?${new URLSearchParams(query).toString()}`
      const request = HttpServerRequest.fromWeb(new Request(url, { method: route.method }))
      return app({ _tag: "Found", route, parameters: path, query }).pipe(
        Effect.map(jsonOf),
        Effect.provideService(HttpServerRequest.HttpServerRequest, request),
        Effect.provideService(InnerCaller, caller),
        Effect.scoped
      )
    })

/**
 * Makes the plane. The platform's own request span is off: it would record the whole URL, and a URL may hold a key.
 */
export const makePlane: Effect.Effect<Plane, never, ManagementServices> = Effect.gen(function* () {
  // The plane acquires nothing that would have to be released, so its scope needs no end.
  const context = yield* Layer.buildWithScope(plane, yield* Scope.make())
  const app = yield* Effect.provide(assemble, context)
  const runSync = Runtime.runSync(yield* Effect.runtime<never>())
  return {
    handle: (found: Match, request: IncomingMessage, response: ServerResponse): void =>
      runSync(NodeHttpServer.makeHandler(app(found)))(request, response),
    ask: askOf(app)
  }
}).pipe(Effect.locally(HttpMiddleware.currentTracerDisabledWhen, () => true))
