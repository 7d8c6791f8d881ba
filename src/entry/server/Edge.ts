/**
 * The raw edge: inference routes straight from node's `request` event to one fiber, without middleware or span.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Layer from "effect/Layer"
import * as ConversationEndpoint from "./ConversationEndpoint.ts"
import * as DashboardEndpoint from "./DashboardEndpoint.ts"
import * as ListingEndpoint from "./ListingEndpoint.ts"
import type { EdgeRoute } from "../../contract/EdgeRoutes.ts"
import { type Match, type Parameters, routeAt } from "../../contract/Routes.ts"
import { makeCallers, isDisguised, jsonOnly } from "../edge/Callers.ts"
import * as IdGen from "../../platform/IdGen.ts"
import { isProved } from "../../subjects/auth/ActingAs.ts"
import * as Timers from "../../platform/Timers.ts"
import * as OpenStreams from "../listening/OpenStreams.ts"
import * as MetricsPage from "../metrics/MetricsPage.ts"
import { requestedPrefix, requestedAddress } from "../../subjects/auth/Credentials.ts"
import { wantsPage, rootPage } from "../pages/Root.ts"
import { sendPlain, sendJson } from "../edge/PlainAnswers.ts"
import { NodeReply } from "../listening/NodeReply.ts"
import { htmlType, pageBelow, pageHeaders, rootPolicy } from "../pages/PageHeaders.ts"
import { rootOf } from "./ListingEndpoint.ts"
import { contentType } from "../metrics/Metrics.ts"
import { codecs } from "../../wire/Codec.ts"
import { errorView, UnsupportedBody, type ErrorView, describe, WrongMethod } from "../../contract/domain/Errors.ts"
import { Flags } from "../../subjects/flags/service.ts"
import type { Caller } from "../files/FileAnswers.ts"
import { FileEndpoint } from "../files/FileEndpoint.ts"
import { BatchEndpoint } from "../files/BatchEndpoint.ts"
import { JobEndpoint } from "../jobs/JobEndpoint.ts"
import { ResponseEndpoint } from "../jobs/ResponseEndpoint.ts"
import { queryOf } from "../files/ListingPages.ts"
import { McpEndpoint } from "../mcp/McpEndpoint.ts"
import { ScimEndpoint } from "../scim/ScimEndpoint.ts"
import { A2aEndpoint } from "../a2a/A2aEndpoint.ts"
import type { WireName } from "../../contract/domain/Wire.ts"
import { logRefusal } from "../edge/RefusalLog.ts"
import { type WrongPath, wrongPath, wrongAction } from "../edge/WrongPath.ts"
export class Edge extends Context.Tag("gateway/entry/server/Edge")<
  Edge,
  {
    /** Handles the request when its path is one of the edge's own; false hands it on. */
    readonly handle: (found: Match, request: IncomingMessage, response: ServerResponse) => boolean
  }
>() {}

/** The routes that one handler serves. */
type Served<Name extends EdgeRoute["handler"]> = Extract<EdgeRoute, { readonly handler: Name }>

type Handler<Route> = (route: Route, parameters: Parameters, request: IncomingMessage, response: ServerResponse) => void

type Handlers = { readonly [Name in EdgeRoute["handler"]]: Handler<Served<Name>> }

/** Answers whose callers are judged here: the root, the metrics, and the pages of the dashboard. */
const systemHandlers = Effect.gen(function* () {
  const { judge } = yield* makeCallers
  const ids = yield* IdGen.IdGen
  const timers = yield* Timers.Timers
  const streams = yield* OpenStreams.OpenStreams
  const metrics = yield* MetricsPage.make
  const dashboard = yield* DashboardEndpoint.make
  const root: Handlers["root"] = (_route, _parameters, request, response) => {
    const { headers } = request
    const prefix = requestedPrefix(headers)
    const isPage = wantsPage(headers.accept)
    if (isPage && dashboard.isThereFor(request)) return dashboard.lead(response, ids.next(timers.nowMs()))
    sendPlain(new NodeReply(response, streams), ids.next(timers.nowMs()), {
      status: 200,
      type: isPage ? htmlType : "application/json",
      body: isPage ? pageBelow(rootPage, prefix) : JSON.stringify(rootOf(prefix)),
      more: ["Vary", "Accept, Origin", ...(isPage ? Object.entries(pageHeaders(rootPolicy)).flat() : [])]
    })
  }
  const measured: Handlers["metrics"] = (route, _parameters, request, response) => {
    const reply = new NodeReply(response, streams)
    const requestId = ids.next(timers.nowMs())
    const access = judge(request, timers.nowMs(), route)
    if (access._tag === "Allowed") {
      return sendPlain(reply, requestId, { status: 200, type: contentType, body: metrics() })
    }
    const { code, message, status } = access
    sendJson(reply, requestId, status, codecs.chat.renderError(errorView(status, message, { code }), requestId))
  }
  const pages: Handlers["dashboard"] = (_route, _parameters, request, response) =>
    dashboard.serve(request, response, ids.next(timers.nowMs()))
  return { root, metrics: measured, dashboard: pages }
})

/** Objects with routes of their own, which ask no model: files, batches, jobs and responses. */
const objectHandlers = Effect.gen(function* () {
  const { identify } = yield* makeCallers
  const ids = yield* IdGen.IdGen
  const timers = yield* Timers.Timers
  const streams = yield* OpenStreams.OpenStreams
  const flags = yield* Flags
  const fileEndpoint = yield* FileEndpoint
  const batchEndpoint = yield* BatchEndpoint
  const jobEndpoint = yield* JobEndpoint
  const responseEndpoint = yield* ResponseEndpoint

  const callerOf = (route: EdgeRoute, request: IncomingMessage): Caller => {
    const nowMs = timers.nowMs()
    const requestId = ids.next(nowMs)
    return { requestId, identity: identify(request, nowMs, route, requestId) }
  }

  const callOf = (route: EdgeRoute, request: IncomingMessage, response: ServerResponse) => {
    return {
      ...callerOf(route, request),
      query: () => queryOf(request.url ?? "/"),
      reply: new NodeReply(response, streams)
    }
  }

  const files: Handlers["files"] = (route, parameters, request, response) =>
    fileEndpoint.handle(route, parameters, callerOf(route, request), request, response)
  const batches: Handlers["batches"] = (route, parameters, request, response) => {
    const { identity, requestId } = callerOf(route, request)
    const isUnasked = route.method === "POST" && !flags.isOn("REQUIRE_API_KEY") && isDisguised(request.headers)
    const isRefused = isUnasked && !(identity instanceof Error) && !isProved(identity)
    const caller = { requestId, identity: isRefused ? new UnsupportedBody({ message: jsonOnly }) : identity }
    return batchEndpoint.handle(route, parameters, caller, request, response)
  }
  const jobs: Handlers["jobs"] = (route, parameters, request, response) =>
    jobEndpoint.handle(route, {
      ...callOf(route, request, response),
      address: requestedAddress(request.headers) ?? "",
      job: parameters["job"] ?? ""
    })
  const responses: Handlers["responses"] = (route, parameters, request, response) =>
    responseEndpoint.handle(route, {
      ...callOf(route, request, response),
      address: "",
      job: parameters["response"] ?? ""
    })
  return { files, batches, jobs, responses }
})

const handlersOf = Effect.gen(function* () {
  const mcp = yield* McpEndpoint
  const a2a = yield* A2aEndpoint
  const scim = yield* ScimEndpoint
  const handlers: Handlers = {
    conversation: yield* ConversationEndpoint.make,
    listing: yield* ListingEndpoint.make,
    ...(yield* objectHandlers),
    ...(yield* systemHandlers),
    mcp: (route, _parameters, request, response) => mcp.handle(route, request, response),
    a2a: (route, _parameters, request, response) => a2a.handle(route, request, response),
    scim: (route, parameters, request, response) => scim.handle(route, parameters, request, response)
  }
  return handlers
})

export const make = Effect.gen(function* () {
  const ids = yield* IdGen.IdGen
  const timers = yield* Timers.Timers
  const streams = yield* OpenStreams.OpenStreams
  const handlers = yield* handlersOf
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  /** Answers a request that no route serves, and logs it. */
  const refuse = (
    { allow, view, wire }: { readonly view: ErrorView; readonly wire: WireName | null; readonly allow?: string },
    request: IncomingMessage,
    response: ServerResponse
  ): void => {
    const requestId = ids.next(timers.nowMs())
    const { message, status } = view
    runFork(logRefusal({ requestId, method: request.method ?? "", url: request.url ?? "/", status, reason: message }))
    sendPlain(new NodeReply(response, streams), requestId, {
      status,
      type: "application/json",
      body: JSON.stringify(codecs[wire ?? "chat"].renderError(view, requestId)),
      ...(allow === undefined ? {} : { more: ["Allow", allow] })
    })
  }

  const refusePath = ({ message, wire }: WrongPath, request: IncomingMessage, response: ServerResponse): void =>
    refuse({ view: errorView(404, message, { code: "not_found" }), wire }, request, response)

  const handle = (found: Match, request: IncomingMessage, response: ServerResponse): boolean => {
    const route = routeAt(found)
    if (route === null) {
      if (found._tag !== "Unknown") return false
      const wrong = wrongPath(request.method ?? "GET", request.url ?? "/", request.headers)
      if (wrong.wire !== null) refusePath(wrong, request, response)
      return wrong.wire !== null
    }
    if (route.plane !== "edge") return false
    if (found._tag === "Found" && route.key === "inference.gemini") {
      const wrong = wrongAction(found.parameters["*"] ?? "")
      if (wrong !== null) {
        refusePath(wrong, request, response)
        return true
      }
    }
    if (found._tag === "Found") {
      const handler = handlers[route.handler] as Handler<EdgeRoute>
      handler(route, found.parameters, request, response)
    } else if (found._tag === "WrongMethod") {
      const allow = found.routes.map(({ method }) => method).join(", ")
      refuse({ view: describe(new WrongMethod({ allow })), wire: route.wire, allow }, request, response)
    }
    return true
  }

  return Edge.of({ handle })
})

export const layer = Layer.effect(Edge, make)
