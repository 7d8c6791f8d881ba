/**
 * The management plane as one HTTP app: find the route on the normalised path, ask the gate, read the body within its limit, then the
 * handlers of the contract. Every answer, also a refusal, carries the version and a request id.
 */
import * as HttpApiBuilder from "@effect/platform/HttpApiBuilder"
import type { HttpApiDecodeError } from "@effect/platform/HttpApiError"
import type * as HttpApp from "@effect/platform/HttpApp"
import * as HttpMiddleware from "@effect/platform/HttpMiddleware"
import * as HttpRouter from "@effect/platform/HttpRouter"
import * as HttpServerRequest from "@effect/platform/HttpServerRequest"
import * as HttpServerResponse from "@effect/platform/HttpServerResponse"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeHttpServerRequest from "@effect/platform-node/NodeHttpServerRequest"
import * as Cause from "effect/Cause"
import * as Clock from "effect/Clock"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Option from "effect/Option"
import * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import {
  BadRequest,
  Forbidden,
  MethodNotAllowed,
  NotFound,
  statusOf,
  TooLarge,
  Unauthorized,
  Unavailable
} from "../api/Errors.ts"
import { firstProblem, largeBodyBytes } from "../api/LargeBodies.ts"
import { match } from "../api/Routes.ts"
import type { Match, Route } from "../api/Routes.ts"
import type { Denied } from "../auth/Access.ts"
import type { AdminPassword } from "../auth/AdminPassword.ts"
import { isSafeMethod } from "../auth/Csrf.ts"
import { Gate } from "../auth/Gate.ts"
import * as Login from "../auth/Login.ts"
import type { Sessions } from "../auth/Sessions.ts"
import { type BufferFull, describe } from "../domain/Errors.ts"
import type { Flags } from "../flags/Flags.ts"
import type { GatewaySettings } from "../flags/GatewaySettings.ts"
import { normalisePath } from "../kernel/NormalPath.ts"
import type { Combos as ComboManagement } from "../management/Combos.ts"
import type { Connections } from "../management/Connections.ts"
import type { Keys as KeyManagement } from "../management/Keys.ts"
import type { ModelAliases as AliasManagement } from "../management/ModelAliases.ts"
import type { ProviderModels as ModelManagement } from "../management/ProviderModels.ts"
import type { ProviderNodes as NodeManagement } from "../management/ProviderNodes.ts"
import type { QuotaGroups as GroupManagement } from "../management/QuotaGroups.ts"
import type { Resilience as ResilienceManagement } from "../management/Resilience.ts"
import type { SettingsChanges } from "../management/SettingsChanges.ts"
import type { SystemHealth } from "../management/SystemHealth.ts"
import type { UsageReports } from "../management/UsageReports.ts"
import { AppConfig } from "../platform/AppConfig.ts"
import { IdGen } from "../platform/IdGen.ts"
import { version } from "../platform/Version.ts"
import { BodyBudget, type BodyShare } from "../resilience/BodyBudget.ts"
import type { Settings } from "../resilience/Settings.ts"
import type { DecisionLog } from "../routing/records/DecisionLog.ts"
import type { Explainer } from "../routing/decide/Explainer.ts"
import type { RoutingSettings } from "../routing/RoutingSettings.ts"
import type { Simulator } from "../simulation/Simulator.ts"
import type { PriceBook } from "../usage/PriceBook.ts"
import { readForeignJson, Unreadable } from "../wire/json/Bounds.ts"
import { excessMessage, excessOf } from "../wire/json/Excess.ts"
import { fromCause, internal, render } from "./handlers/Answers.ts"
import * as Auth from "./handlers/Auth.ts"
import * as Combos from "./handlers/Combos.ts"
import * as FlagHandlers from "./handlers/Flags.ts"
import * as GatewaySettingsHandlers from "./handlers/GatewaySettings.ts"
import * as Keys from "./handlers/Keys.ts"
import * as ModelAliases from "./handlers/ModelAliases.ts"
import * as Pricing from "./handlers/Pricing.ts"
import * as ProviderModels from "./handlers/ProviderModels.ts"
import * as ProviderNodes from "./handlers/ProviderNodes.ts"
import * as Providers from "./handlers/Providers.ts"
import * as QuotaGroups from "./handlers/QuotaGroups.ts"
import * as RateLimits from "./handlers/RateLimits.ts"
import * as Resilience from "./handlers/Resilience.ts"
import * as Routing from "./handlers/Routing.ts"
import * as RoutingSettingsHandlers from "./handlers/RoutingSettings.ts"
import * as System from "./handlers/System.ts"
import * as Usage from "./handlers/Usage.ts"
import { logRefusal } from "./RefusalLog.ts"
import { readBody } from "./RequestBody.ts"

/** What is done to the configuration, and said of its state. */
export type UseCases =
  | AliasManagement
  | ComboManagement
  | Connections
  | GroupManagement
  | KeyManagement
  | ModelManagement
  | NodeManagement
  | ResilienceManagement
  | SettingsChanges
  | SystemHealth
  | UsageReports

/** What the plane needs beside them. */
export type PlaneServices =
  | AdminPassword
  | AppConfig
  | BodyBudget
  | DecisionLog
  | Explainer
  | Flags
  | Gate
  | GatewaySettings
  | IdGen
  | PriceBook
  | RoutingSettings
  | Sessions
  | Settings
  | Simulator

export type ManagementServices = PlaneServices | UseCases

const groups = Layer.mergeAll(
  Auth.layer,
  Combos.layer,
  FlagHandlers.layer,
  GatewaySettingsHandlers.layer,
  Keys.layer,
  ModelAliases.layer,
  Pricing.layer,
  ProviderModels.layer,
  ProviderNodes.layer,
  Providers.layer,
  QuotaGroups.layer,
  RateLimits.layer,
  Resilience.layer,
  Routing.layer,
  RoutingSettingsHandlers.layer,
  System.layer,
  Usage.layer
)

/** The handlers on their router, and what only this plane uses. */
const plane = groups.pipe(
  Layer.provideMerge(HttpApiBuilder.Router.Live),
  Layer.provide(Login.layer),
  Layer.provideMerge(NodeHttpServer.layerContext)
)

const refusal = (denied: Denied) =>
  denied.status === 401 ? new Unauthorized({ ...denied }) : new Forbidden({ ...denied })

const wrongPath = new BadRequest({ message: "The path is not well-formed.", code: "malformed_path" })

const notFound = (found: Exclude<Match, { readonly _tag: "Found" }>, method: string) =>
  found._tag === "Unknown"
    ? new NotFound({ message: "There is no such route." })
    : new MethodNotAllowed({ message: `This route does not answer ${method}.`, allow: found.allow })

const tooLarge = (limitBytes: number): TooLarge =>
  new TooLarge({ message: `The request body is larger than ${limitBytes} bytes, the limit of this route.` })

const noRoom = (error: BufferFull): Unavailable => {
  const { code, message } = describe(error)
  return new Unavailable({ code, message, retryAfterMs: error.retryAfterMs })
}

const bodyOf = (
  message: IncomingMessage,
  limitBytes: number,
  share: BodyShare,
  refusal: () => BufferFull
): Effect.Effect<Buffer, TooLarge | Unavailable> =>
  Effect.async((resume) =>
    readBody(message, limitBytes, share, (result) => {
      if (result === "too_large") resume(tooLarge(limitBytes))
      else if (result === "no_room") resume(noRoom(refusal()))
      else resume(result === "gone" ? Effect.interrupt : Effect.succeed(result))
    })
  )

/** What is wrong with a body before the handlers see it: structure without end, or, where it is large, its first wrong field. */
const bodyProblem = (route: string, body: Buffer): BadRequest | HttpApiDecodeError | null => {
  if (body.length < largeBodyBytes) {
    // All structure of JSON is ASCII.
    const excess = excessOf(body.toString("latin1"))
    return excess === null ? null : new BadRequest({ message: excessMessage[excess] })
  }
  const read = readForeignJson(body.toString())
  return read instanceof Unreadable ? new BadRequest({ message: read.message }) : firstProblem(route, read)
}

/**
 * The request as the handlers see it: on the table's own spelling of the path, with the body read whole. Every body is JSON, whatever the
 * client calls it, and none is `null`.
 */
const handed = (
  request: HttpServerRequest.HttpServerRequest,
  canonicalPath: string,
  body: Buffer
): HttpServerRequest.HttpServerRequest => {
  const query = request.url.indexOf("?")
  const url = query === -1 ? canonicalPath : `${canonicalPath}${request.url.slice(query)}`
  const web = new Request(`http://gateway${canonicalPath}`, {
    method: request.method,
    ...(isSafeMethod(request.method) ? {} : { body: body.length === 0 ? "null" : body })
  })
  return HttpServerRequest.fromWeb(web).modify({
    url,
    headers: { ...request.headers, "content-type": "application/json" },
    ...Option.match(request.remoteAddress, { onNone: () => ({}), onSome: (remoteAddress) => ({ remoteAddress }) })
  })
}

const identified = (requestId: string) =>
  HttpServerResponse.setHeaders({
    "X-Gateway-Version": version,
    "X-Gateway-Request-Id": requestId,
    "X-Content-Type-Options": "nosniff"
  })

/** The app. Never fails; a bug becomes a sanitised 500 and a line in the log. */
export const app: Effect.Effect<HttpApp.Default, never, ManagementServices> = Effect.gen(function* () {
  // The plane acquires nothing that would have to be released, so its scope needs no end.
  const context = yield* Layer.buildWithScope(plane, yield* Scope.make())
  return yield* Effect.provide(assemble, context)
})

const assemble = Effect.gen(function* () {
  const config = yield* AppConfig
  const ids = yield* IdGen
  const gate = yield* Gate
  const bodies = yield* BodyBudget
  const router = yield* HttpApiBuilder.Router.router
  const handlers = yield* HttpRouter.toHttpApp(router)
  const services = yield* Effect.context<HttpRouter.HttpRouter.DefaultServices>()

  const limitOf = (route: Route): number => Math.min(route.maxBodyBytes ?? config.maxBodyBytes, config.maxBodyBytes)

  const admitted = Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    found: Extract<Match, { readonly _tag: "Found" }>,
    nowMs: number
  ) {
    const message = NodeHttpServerRequest.toIncomingMessage(request)
    const access = gate.judge(
      found.route.tier,
      {
        method: request.method,
        url: request.url,
        headers: message.headers,
        socketAddress: message.socket.remoteAddress ?? null
      },
      nowMs
    )
    if (access._tag === "Denied") return yield* refusal(access)
    const share = bodies.share()
    NodeHttpServerRequest.toServerResponse(request).once("close", share.release)
    const body = yield* bodyOf(message, limitOf(found.route), share, bodies.refusal)
    const problem = bodyProblem(found.route.key, body)
    if (problem !== null) return yield* problem
    return yield* Effect.provideService(
      handlers,
      HttpServerRequest.HttpServerRequest,
      handed(request, found.canonicalPath, body)
    ).pipe(Effect.withSpan(`management ${found.route.key}`, { attributes: { "http.route": found.route.path } }))
  })

  return Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const nowMs = yield* Clock.currentTimeMillis
    const requestId = ids.next(nowMs)
    const handle = Effect.suspend(() => {
      const path = normalisePath(request.url)
      const found = path === null ? null : match(request.method, path)
      if (found?._tag === "Found") return admitted(request, found, nowMs)
      const refused: BadRequest | NotFound | MethodNotAllowed =
        found === null ? wrongPath : notFound(found, request.method)
      const { method, url } = request
      const status = statusOf[refused._tag]
      return Effect.zipRight(
        logRefusal({ requestId, method, url, status, reason: refused.message }),
        Effect.fail(refused)
      )
    })
    return yield* handle.pipe(
      Effect.catchAllCause((cause) => {
        if (Cause.isInterruptedOnly(cause)) return Effect.interrupt
        const error = fromCause(cause)
        return error === null
          ? Effect.as(Effect.logError("A management request failed", cause), render(internal))
          : Effect.succeed(render(error))
      }),
      Effect.map(identified(requestId)),
      Effect.annotateLogs("requestId", requestId)
    )
  }).pipe(Effect.provide(services))
})

/**
 * The app behind a node listener. The platform's own request span is off: it would record the whole URL, and a URL may hold a key.
 */
export const handler: Effect.Effect<
  (request: IncomingMessage, response: ServerResponse) => void,
  never,
  ManagementServices
> = Effect.flatMap(app, NodeHttpServer.makeHandler).pipe(
  Effect.locally(HttpMiddleware.currentTracerDisabledWhen, () => true)
)
