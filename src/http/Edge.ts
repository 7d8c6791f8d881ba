/**
 * The raw edge: inference routes straight from node's `request` event to one fiber, without router, middleware or span.
 * Everything else goes to the management plane behind it. Both doors know a route only from the one table (`api/Routes.ts`).
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import {
  type EdgeRoute,
  edgeRoute,
  edgeRouteAt,
  type InferenceRoute,
  type ListingRoute,
  wildRoute
} from "../api/EdgeRoutes.ts"
import type { Denied } from "../auth/Access.ts"
import * as Gate from "../auth/Gate.ts"
import type { Principal } from "../domain/ApiKey.ts"
import {
  BodyTooLarge,
  describe,
  KeyRejected,
  WrongMethod,
  Unauthenticated,
  type InferenceError
} from "../domain/Errors.ts"
import type { ClientReply, Exchange } from "../inference/Exchange.ts"
import { identityHeaders } from "../inference/Headers.ts"
import * as ModelCatalogue from "../inference/ModelCatalogue.ts"
import * as Pipeline from "../inference/Pipeline.ts"
import { normalisePath, pathOf } from "../kernel/NormalPath.ts"
import * as AppConfig from "../platform/AppConfig.ts"
import * as IdGen from "../platform/IdGen.ts"
import { readProcessFacts } from "../platform/ProcessFacts.ts"
import * as Timers from "../platform/Timers.ts"
import { version } from "../platform/Version.ts"
import * as Telemetry from "../usage/Telemetry.ts"
import { codecs } from "../wire/Codec.ts"
import { dialectOf } from "./Dialects.ts"
import { listingOf, offeredOf } from "./Listings.ts"
import { contentType, processFamilies, renderPrometheus } from "./Metrics.ts"
import { NodeReply } from "./NodeReply.ts"
import { readBody } from "./RequestBody.ts"

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

export class Edge extends Context.Tag("gateway/http/Edge")<
  Edge,
  {
    /** Handles the request when it is one of the edge's own; false hands it on. */
    readonly handle: (request: IncomingMessage, response: ServerResponse) => boolean
  }
>() {}

const empty = Buffer.alloc(0)
const anonymous: Principal = { _tag: "Anonymous" }

const refusalOf = ({ code }: Denied): InferenceError => {
  switch (code) {
    case "missing_api_key":
      return new Unauthenticated({ reason: "missing" })
    case "key_expired":
      return new KeyRejected({ reason: "expired", model: null })
    case "key_inactive":
      return new KeyRejected({ reason: "inactive", model: null })
    default:
      return new Unauthenticated({ reason: "wrong" })
  }
}

export const make = Effect.gen(function* () {
  const config = yield* AppConfig.AppConfig
  const gate = yield* Gate.Gate
  const ids = yield* IdGen.IdGen
  const timers = yield* Timers.Timers
  const pipeline = yield* Pipeline.Pipeline
  const catalogue = yield* ModelCatalogue.ModelCatalogue
  const telemetry = yield* Telemetry.Telemetry
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  /** Who is calling; a failure in the words every wire can render. */
  const identify = (request: IncomingMessage, nowMs: number): Principal | InferenceError => {
    const access = gate.judge(
      "inference",
      {
        method: request.method ?? "POST",
        url: request.url ?? "/",
        headers: request.headers,
        socketAddress: request.socket.remoteAddress ?? null
      },
      nowMs
    )
    return access._tag === "Allowed" ? access.principal : refusalOf(access)
  }

  const send = (
    reply: ClientReply,
    requestId: string,
    status: number,
    type: string,
    body: string,
    more: ReadonlyArray<string> = []
  ): void => {
    const headers = identityHeaders(requestId)
    headers.push("Content-Type", type, "Content-Length", String(Buffer.byteLength(body)), ...more)
    reply.head(status, headers)
    reply.end(body)
  }

  const json = (reply: ClientReply, requestId: string, status: number, value: unknown): void =>
    send(reply, requestId, status, "application/json", JSON.stringify(value))

  /** What the caller may choose from. */
  const entriesFor = (principal: Principal) => catalogue.entries(principal._tag === "Key" ? principal.key : null)

  /** The body is read before the fiber exists: a fiber that waits for it would cost more than the reading. */
  const serve = (request: IncomingMessage, reply: ClientReply, route: InferenceRoute): void => {
    const receivedMs = timers.nowMs()
    const startedMs = timers.monotonicMs()
    const identity = identify(request, receivedMs)
    const principal = identity instanceof Error ? anonymous : identity
    const dialect = dialectOf(route, {
      segments: () => normalisePath(request.url ?? "/") ?? [],
      nowMs: receivedMs,
      offered: () => entriesFor(principal).map(offeredOf)
    })
    const known = "_tag" in dialect ? { codec: codecs[route.wire], fromPath: null, atOnce: null } : dialect
    const exchange = (body: Buffer): Exchange => ({
      requestId: ids.next(receivedMs),
      receivedMs,
      startedMs,
      wire: route.wire,
      codec: known.codec,
      method: request.method ?? "POST",
      path: route.path,
      body,
      fromPath: known.fromPath,
      atOnce: known.atOnce,
      headers: request.headers,
      principal,
      reply
    })
    if (identity instanceof Error) return pipeline.refuse(exchange(empty), identity)
    if ("_tag" in dialect) return pipeline.refuse(exchange(empty), dialect)
    readBody(request, config.maxBodyBytes, (body) => {
      if (body === "gone") return
      if (body === "too_large") pipeline.refuse(exchange(empty), new BodyTooLarge({ limitBytes: config.maxBodyBytes }))
      else runFork(pipeline.serve(exchange(body)))
    })
  }

  const list = (request: IncomingMessage, reply: ClientReply, route: ListingRoute): void => {
    const nowMs = timers.nowMs()
    const requestId = ids.next(nowMs)
    const identity = identify(request, nowMs)
    const segments = normalisePath(request.url ?? "/") ?? []
    const answer = identity instanceof Error ? identity : listingOf(route.key, segments, entriesFor(identity))
    if (!(answer instanceof Error)) return json(reply, requestId, 200, answer)
    const view = describe(answer)
    json(reply, requestId, view.status, codecs[route.wire].renderError(view, requestId))
  }

  const metrics = (reply: ClientReply): void => {
    const facts = { ...readProcessFacts(), eventLoopDelayMs: null, openStreams: null }
    send(
      reply,
      ids.next(timers.nowMs()),
      200,
      contentType,
      renderPrometheus([...processFamilies(facts), ...telemetry.metrics()])
    )
  }

  const answer = (route: EdgeRoute, request: IncomingMessage, reply: ClientReply): void => {
    if (route.tier === "inference") {
      return route.method === "POST" ? serve(request, reply, route) : list(request, reply, route)
    }
    return route.key === "system.metrics"
      ? metrics(reply)
      : json(reply, ids.next(timers.nowMs()), 200, { name: "gateway", version, docs: "/openapi.json" })
  }

  const wrongMethod = (route: EdgeRoute, reply: ClientReply): void => {
    const requestId = ids.next(timers.nowMs())
    const view = describe(new WrongMethod({ allow: route.method }))
    const codec = codecs[route.wire ?? "chat"]
    send(reply, requestId, view.status, "application/json", JSON.stringify(codec.renderError(view, requestId)), [
      "Allow",
      route.method
    ])
  }

  const handle = (request: IncomingMessage, response: ServerResponse): boolean => {
    const method = request.method ?? "GET"
    const path = pathOf(request.url ?? "/")
    // Hot: the usual spelling. Any other spelling of the same path is the same route, with the same checks.
    const exact = edgeRoute(method, path)
    if (exact !== null) {
      answer(exact, request, new NodeReply(response))
      return true
    }
    const segments = normalisePath(path)
    if (segments === null) return false
    const normal = `/${segments.join("/").toLowerCase()}`
    const route = edgeRoute(method, normal) ?? wildRoute(method, normal)
    if (route !== null) {
      answer(route, request, new NodeReply(response))
      return true
    }
    const other = edgeRouteAt(normal)
    if (other === null) return false
    wrongMethod(other, new NodeReply(response))
    return true
  }

  return Edge.of({ handle })
})

export const layer: Layer.Layer<
  Edge,
  never,
  | AppConfig.AppConfig
  | Gate.Gate
  | IdGen.IdGen
  | Timers.Timers
  | Pipeline.Pipeline
  | ModelCatalogue.ModelCatalogue
  | Telemetry.Telemetry
> = Layer.effect(Edge, make)
