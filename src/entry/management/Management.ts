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
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import * as Scope from "effect/Scope"
import type { IncomingMessage, ServerResponse } from "node:http"
import { BadRequest, MethodNotAllowed, NotFound, statusOf } from "../../contract/Errors.ts"
import {
  type GroupName,
  type ManagementKey,
  type ManagementRoute,
  managementRoutes,
  managementTable
} from "../../contract/ManagementRoutes.ts"
import type { Found, Match } from "../../contract/Routes.ts"
import { ConfigSettled } from "../../plane/workers/ConfigWatch.ts"
import { Events } from "../../observe/Events.ts"
import { AuditLog } from "../../subjects/auth/AuditLog.ts"
import { isSafeMethod } from "../../subjects/auth/Csrf.ts"
import * as Login from "../../subjects/auth/Login.ts"
import { Rehearsals } from "../../subjects/configuration/Rehearsals.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { version as gatewayVersion } from "../../platform/Version.ts"
import type { Json } from "../../wire/json/Json.ts"
import { configChangeOf } from "../handling/ConfigKinds.ts"
import { fromCause, internal, render } from "../handling/Answers.ts"
import * as Access from "./Access.ts"
import { makeChanges } from "./Changes.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import { makeDelivery } from "./Delivery.ts"
import { type GroupServices, handlersOf } from "./Groups.ts"
import { clientAddress } from "../listening/ClientAddress.ts"
import { InnerCaller } from "../listening/InnerCaller.ts"
import { isSight } from "../handling/ContentSights.ts"
import type { Directory } from "../../subjects/people/Owners.ts"
import { People } from "../../subjects/people/People.ts"
import { CurrentTrail, type Outcome, rowOf, type Trail } from "../handling/AuditTrail.ts"
import { type AskPlane, type InnerAnswer, Planes } from "../handling/Planes.ts"
import * as WholeBody from "./WholeBody.ts"
import { logRefusal } from "../edge/RefusalLog.ts"
import { wrongPath } from "../edge/WrongPath.ts"
import { queryFor } from "./Versions.ts"
import type { ManagementServices } from "./Services.ts"

/** Services that only this plane uses, for all its groups. */
const common = Layer.mergeAll(Access.layer, WholeBody.layer, Login.layer, NodeHttpServer.layerContext)

type Common = Layer.Layer.Success<typeof common> | Planes

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
    "X-Gateway-Version": gatewayVersion,
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

/** Endpoints that ask models, as inference does, or do nothing at all. */
const changesNothing: ReadonlySet<ManagementKey> = new Set<ManagementKey>([
  "cloud.auth",
  "cloud.resolveModel",
  "playground.improvePrompt",
  "playground.compare",
  "playground.snippets"
])

/** Changes something by GET, because a browser is sent there. */
const changesByGet: ReadonlySet<ManagementKey> = new Set<ManagementKey>(["oauth.callback", "signIn.callback"])

/** A request that may change something; other `GET`s and `HEAD` leave no row, and captured traffic is no change. */
const mayChange = (found: Match): found is Found =>
  found._tag === "Found" &&
  found.route.plane === "management" &&
  found.route.tier !== "ingest" &&
  !changesNothing.has(found.route.key) &&
  (!isSafeMethod(found.route.method) || changesByGet.has(found.route.key))

/** A read of what callers have said. */
const isSightOf = (found: Match, directory: Directory): found is Found =>
  found._tag === "Found" && found.route.plane === "management" && isSight(found.route.key, directory)

/** The endpoints of a group, by their keys. */
type Endpoints = ReadonlyMap<string, Endpoint>

const endpointKey = ({ method, path }: { readonly method: string; readonly path: string }): string =>
  `${method} ${path}`

const groupOf = (key: ManagementKey): GroupName => key.slice(0, key.indexOf(".")) as GroupName

/** Collects the endpoints of a group on a router of the framework. It acquires nothing that would have to be released, so its scope needs no end. */
const endpointsOf = Effect.fnUntraced(function* (name: GroupName) {
  const load: () => Promise<Layer.Layer<never, never, GroupServices>> = handlersOf[name]
  const layer = yield* Effect.promise(load)
  const built = yield* Layer.buildWithScope(Layer.provideMerge(layer, HttpApiBuilder.Router.Live), yield* Scope.make())
  const router = yield* Effect.provide(HttpApiBuilder.Router.router, built)
  return new Map(Array.from(router.routes, (endpoint) => [endpointKey(endpoint), endpoint as Endpoint]))
})

/** Each group once, by a fiber of its own: a handler must not keep what belongs to the request that came first. */
const makeGroups = Effect.map(Effect.runtime<ManagementServices | Common>(), (runtime) => {
  const runPromise = Runtime.runPromise(runtime)
  const groups = new Map<GroupName, Promise<Endpoints>>()
  return (name: GroupName): Promise<Endpoints> => {
    const known = groups.get(name)
    if (known !== undefined) return known
    const loading = runPromise(endpointsOf(name))
    groups.set(name, loading)
    return loading
  }
})

const assemble: Effect.Effect<App, never, ManagementServices | Common> = Effect.gen(function* () {
  const ids = yield* IdGen
  const audit = yield* AuditLog
  const { configChanged } = yield* Events
  const settled = yield* ConfigSettled
  const people = yield* People
  const groups = yield* makeGroups
  const changes = makeChanges(yield* Slices)
  const services = yield* Effect.context<HttpRouter.HttpRouter.DefaultServices>()

  const answer = (found: Match, requestId: string) =>
    Effect.gen(function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      const { method, url } = request
      if (found._tag === "Found") {
        const { route } = found
        if (route.plane === "management") {
          const endpoints = yield* Effect.promise(() => groups(groupOf(route.key)))
          // The contract has one path of each route, whichever of its spellings was matched.
          const endpoint = endpoints.get(endpointKey(managementTable[route.key]))
          if (endpoint !== undefined) {
            const show = (key: ManagementKey) => {
              const shown =
                groupOf(key) === groupOf(route.key) ? endpoints.get(endpointKey(managementTable[key])) : undefined
              return shown === undefined
                ? null
                : answerOf(shown, { ...found, route: { ...route, key }, query: queryFor(key, found.query) })
            }
            return yield* changes({ ...found, route }, answerOf(endpoint, found), show)
          }
        }
      }
      const refused = refusalOf(found._tag === "Found" ? { _tag: "Unknown" } : found, request)
      yield* logRefusal({ requestId, method, url, status: statusOf[refused._tag], reason: refused.message })
      return yield* refused
    })

  /** Makes the rows of the audit log, at this one place: each request that may change something has one, however it ends. */
  const recorded = (found: Found, requestId: string, trail: Trail, outcome: Outcome) =>
    Effect.gen(function* () {
      const { route, parameters, query } = found
      if (route.plane !== "management" || trail.isUneventful === true) return
      const ip = yield* clientAddress
      const atMs = yield* Clock.currentTimeMillis
      const row = rowOf({ route, parameters, query, trail, outcome, requestId, atMs, ip })
      yield* audit.record(row)
      const change =
        row.status === "success" && mayChange(found) ? configChangeOf(route.key, row.action, row.target) : null
      if (change !== null) configChanged(atMs, { ...change, by: row.actor, action: row.action })
      // The change is in force in every process before its caller has the answer.
      if (row.status === "success" && mayChange(found)) yield* settled
    })

  return (found) =>
    Effect.flatMap(Clock.currentTimeMillis, (nowMs) => {
      const requestId = ids.next(nowMs)
      const row = mayChange(found) || isSightOf(found, people.directory()) ? found : null
      const trail: Trail | null = row === null ? null : { principal: null, body: undefined }
      const noted = (outcome: Outcome) =>
        trail === null || row === null ? Effect.void : recorded(row, requestId, trail, outcome)
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

export interface Plane {
  /** Answers node's requests. */
  readonly handle: (found: Match, request: IncomingMessage, response: ServerResponse) => void
  /** Asks an endpoint as a request over HTTP does; errors are answers. Who may do so was judged by the one who asks. */
  readonly ask: AskPlane
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
  (app: App): AskPlane =>
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

const untraced = Effect.locally(HttpMiddleware.currentTracerDisabledWhen, () => true)

/** Calls of handlers to this plane, once it is assembled, and to planes over copies. */
const makePlanes = Effect.gen(function* () {
  const services = yield* Effect.context<ManagementServices>()
  const { open } = yield* Rehearsals
  let own: App | null = null

  const planes: typeof Planes.Service = {
    ask: (call) => Effect.suspend(() => (own === null ? Effect.dieMessage("There is no plane.") : askOf(own)(call))),
    rehearsal: (options) =>
      Effect.gen(function* () {
        const copied = yield* open(options)
        const context = Context.merge(services, copied)
        const ways = yield* Effect.provide(Layer.build(common), context)
        const all = Context.merge(Context.merge(context, ways), Context.make(Planes, planes))
        return askOf(yield* Effect.provide(assemble, all))
      }).pipe(untraced)
  }
  return {
    planes,
    announce: (app: App): void => {
      own = app
    }
  }
})

/**
 * Makes the plane. The platform's own request span is off: it would record the whole URL, and a URL may hold a key.
 */
export const makePlane: Effect.Effect<Plane, never, ManagementServices> = Effect.gen(function* () {
  // The plane acquires nothing that would have to be released, so its scope needs no end.
  const context = yield* Layer.buildWithScope(common, yield* Scope.make())
  const { announce, planes } = yield* makePlanes
  const app = yield* Effect.provide(assemble, Context.add(context, Planes, planes))
  announce(app)
  const runSync = Runtime.runSync(yield* Effect.runtime<never>())
  const deliver = makeDelivery(yield* Slices)
  const delivered: App = (found) => Effect.flatMap(app(found), (response) => deliver(found, response))
  return {
    handle: (found: Match, request: IncomingMessage, response: ServerResponse): void =>
      runSync(NodeHttpServer.makeHandler(delivered(found)))(request, response),
    ask: askOf(app)
  }
}).pipe(untraced)
