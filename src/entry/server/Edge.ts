/**
 * The raw edge: inference routes straight from node's `request` event to one fiber, without middleware or span.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import {
  type A2aRoute,
  type BatchRoute,
  type EdgeRoute,
  type FileRoute,
  type InferenceRoute,
  type JobRoute,
  type ListingRoute,
  type McpRoute,
  type QuestionRoute,
  type ResponseRoute
} from "../../contract/EdgeRoutes.ts"
import { type Match, type Parameters, routeAt } from "../../contract/Routes.ts"
import type { Access, Denied } from "../../subjects/auth/Access.ts"
import { addressAsked, prefixAsked } from "../../subjects/auth/Credentials.ts"
import * as Gate from "../../subjects/auth/Gate.ts"
import { peerAddressOf } from "../../subjects/auth/PeerAddress.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import type { ProviderSpec } from "../../domain/Provider.ts"
import {
  BodyTooLarge,
  Overloaded,
  ShuttingDown,
  UnsupportedBody,
  describe,
  errorView,
  KeyRejected,
  WrongMethod,
  Unauthenticated,
  UploadNotKept,
  type InferenceError
} from "../../domain/Errors.ts"
import { Flags } from "../../subjects/flags/service.ts"
import { registry } from "../../plane/providers/Registry.ts"
import { apiKeyIdOf, type ClientReply, type Exchange } from "../../plane/request/Exchange.ts"
import type { Uploads } from "../../plane/request/Uploads.ts"
import { identityHeaders } from "../../plane/request/Headers.ts"
import * as ModelCatalogue from "../../plane/catalogue/ModelCatalogue.ts"
import { MediaJobs } from "../../plane/jobs/MediaJobs.ts"
import * as Pipeline from "../../plane/Pipeline.ts"
import { TrafficTap } from "../../plane/tap/TrafficTap.ts"
import { StopSignal } from "../../plane/request/StopSignal.ts"
import * as AppConfig from "../../platform/AppConfig.ts"
import * as IdGen from "../../platform/IdGen.ts"
import * as Timers from "../../platform/Timers.ts"
import { version } from "../../platform/Version.ts"
import * as Catalog from "../../plane/providers/Catalog.ts"
import * as BodyBudget from "../../plane/resilience/BodyBudget.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import * as LoadShedder from "../../plane/resilience/LoadShedder.ts"
import { SearchCounts } from "../../plane/search/SearchCounts.ts"
import { Searches } from "../../plane/search/Searches.ts"
import { listProviders } from "../../plane/search/SearchProviders.ts"
import { codecs } from "../../wire/Codec.ts"
import { decodedHeaders } from "../listening/ContentCodings.ts"
import { categoryOf, dialectOf, formOf } from "../edge/Dialects.ts"
import { handshakeAnswer } from "../edge/Handshake.ts"
import { isOfKind } from "../edge/KindListings.ts"
import { queryOf } from "../files/ListingPages.ts"
import { listingOf, offeredOf } from "../edge/Listings.ts"
import { contentType } from "../metrics/Metrics.ts"
import * as MetricsPage from "../metrics/MetricsPage.ts"
import { NodeReply } from "../listening/NodeReply.ts"
import { htmlType, pageBelow, pageHeaders, rootPolicy } from "../pages/PageHeaders.ts"
import { rootPage, wantsPage } from "../pages/Root.ts"
import { BatchEndpoint } from "../files/BatchEndpoint.ts"
import { FileEndpoint } from "../files/FileEndpoint.ts"
import { A2aEndpoint } from "../a2a/A2aEndpoint.ts"
import { McpEndpoint } from "../mcp/McpEndpoint.ts"
import { formOnly, Forms, isForm } from "../forms/Forms.ts"
import { UploadReply } from "../forms/UploadReply.ts"
import * as OpenStreams from "../listening/OpenStreams.ts"
import { providerNamed, scopedBody, type ScopeView } from "../edge/ProviderScope.ts"
import { logRefusal } from "../edge/RefusalLog.ts"
import { JobEndpoint, jobKinds } from "../jobs/JobEndpoint.ts"
import { ResponseEndpoint } from "../jobs/ResponseEndpoint.ts"
import { videoBody } from "../jobs/VideoBody.ts"
import { maxTopMembers } from "../../wire/json/Excess.ts"
import { slicedFromBytes } from "../../wire/json/LargeBodies.ts"
import { readBody } from "../listening/RequestBody.ts"
import { type WrongPath, wrongAction, wrongPath } from "../edge/WrongPath.ts"

export class Edge extends Context.Tag("gateway/entry/server/Edge")<
  Edge,
  {
    /** Handles the request when its path is one of the edge's own; false hands it on. */
    readonly handle: (found: Match, request: IncomingMessage, response: ServerResponse) => boolean
  }
>() {}

const empty = Buffer.alloc(0)
const nothing = (): void => {}
const anonymous: Principal = { _tag: "Anonymous" }

const jsonOnly =
  "Requests with an Origin must say 'Content-Type: application/json' while no API key is required: a page may send other types without asking."

const formsOfOthers = new UnsupportedBody({
  message: "Pages of other origins may send forms only when CORS_ORIGINS names them, or with an API key."
})

/** A browser's request with a type of body that needs no question to the server before. */
const isDisguised = ({ "content-type": type, origin }: IncomingMessage["headers"]): boolean =>
  origin !== undefined && !/^application\/json\s*(?:;|$)/i.test(type ?? "")

const jobKeys: ReadonlySet<string> = new Set(Object.keys(jobKinds))
const responseKeys: ReadonlySet<string> = new Set<ResponseRoute["key"]>([
  "inference.response",
  "inference.deleteResponse",
  "inference.cancelResponse",
  "inference.responseItems"
])
const isResponseRoute = (route: EdgeRoute): route is ResponseRoute => responseKeys.has(route.key)
const isJobRoute = (route: EdgeRoute): route is JobRoute => jobKeys.has(route.key)

const isFileRoute = (route: EdgeRoute): route is FileRoute => route.category === "files"
const isA2aRoute = (route: EdgeRoute): route is A2aRoute => route.key === "a2a.askAgent"
const isMcpRoute = (route: EdgeRoute): route is McpRoute => route.key.startsWith("mcp.")
const isBatchRoute = (route: EdgeRoute): route is BatchRoute => route.category === "batches"

const refusalOf = ({ code }: Denied): InferenceError => {
  switch (code) {
    case "missing_api_key":
      return new Unauthenticated({ reason: "missing" })
    case "key_expired":
      return new KeyRejected({ reason: "expired", model: null })
    case "key_inactive":
      return new KeyRejected({ reason: "inactive", model: null })
    case "key_schedule":
      return new KeyRejected({ reason: "schedule", model: null })
    case "key_ip":
      return new KeyRejected({ reason: "ip", model: null })
    case "key_endpoint":
      return new KeyRejected({ reason: "endpoint", model: null })
    default:
      return new Unauthenticated({ reason: "wrong" })
  }
}

/**
 * Writes the path as the client asked it, without parts that may be a key: those are in the query, or in parameters of
 * the path.
 */
const pathAsked = ({ path }: InferenceRoute, rest: string, url: string): string => {
  if (!path.includes("*")) return path
  const form = queryOf(url).get("alt")
  return path.replace("*", () => rest) + (form === null ? "" : `?alt=${encodeURIComponent(form)}`)
}

export const make = Effect.gen(function* () {
  const config = yield* AppConfig.AppConfig
  const gate = yield* Gate.Gate
  const ids = yield* IdGen.IdGen
  const timers = yield* Timers.Timers
  const streams = yield* OpenStreams.OpenStreams
  const pipeline = yield* Pipeline.Pipeline
  const stop = yield* StopSignal
  const tap = yield* TrafficTap
  const catalogue = yield* ModelCatalogue.ModelCatalogue
  const catalog = yield* Catalog.Catalog
  const flags = yield* Flags
  const shedder = yield* LoadShedder.LoadShedder
  const bodies = yield* BodyBudget.BodyBudget
  const slices = yield* Slices
  const metrics = yield* MetricsPage.make
  const files = yield* FileEndpoint
  const mcp = yield* McpEndpoint
  const a2a = yield* A2aEndpoint
  const searches = yield* Searches
  const searchCounts = yield* SearchCounts
  const forms = yield* Forms
  const batches = yield* BatchEndpoint
  const mediaJobs = yield* MediaJobs
  const jobEndpoint = yield* JobEndpoint
  const responseEndpoint = yield* ResponseEndpoint
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())

  /** Identifies the caller; a failure in a form that every wire can render. */
  const judge = (
    request: IncomingMessage,
    nowMs: number,
    { category, tier }: Pick<EdgeRoute, "category" | "tier">
  ): Access =>
    gate.judge(
      tier,
      {
        method: request.method ?? "POST",
        url: request.url ?? "/",
        headers: request.headers,
        socketAddress: peerAddressOf(request.socket),
        category
      },
      nowMs
    )

  const identify = (
    request: IncomingMessage,
    nowMs: number,
    route: Pick<EdgeRoute, "category" | "tier">
  ): Principal | InferenceError => {
    const access = judge(request, nowMs, route)
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

  /** Refuses a request that has no usage row. */
  const refusePlain = (reply: ClientReply, requestId: string, route: EdgeRoute, error: InferenceError): void => {
    const view = describe(error)
    json(reply, requestId, view.status, codecs[route.wire ?? "chat"].renderError(view, requestId))
  }

  const scopeView = (): ScopeView => ({ catalog: catalog.current(), modelsOf: catalog.modelsOf })

  /** The provider a route of one provider names; null on all other routes. */
  const providerOf = ({ provider }: Parameters): ProviderSpec | InferenceError | null =>
    provider === undefined ? null : providerNamed(scopeView(), provider)

  /** Lists the models that the caller may choose from. */
  const entriesFor = (principal: Principal) => catalogue.entries(principal._tag === "Key" ? principal.key : null)

  /** The job has all of its request: its files are not needed any more. */
  const createVideo = (asked: Exchange, uploads: Uploads, discard: () => void): void =>
    void runFork(
      Effect.matchCause(
        Effect.ensuring(
          Effect.promise(() => videoBody(asked.body, uploads)),
          Effect.sync(discard)
        ),
        {
          // The bytes were kept and cannot be read again.
          onFailure: () => pipeline.refuse(asked, new UploadNotKept({ isDiskFull: false })),
          onSuccess: (body) => {
            if (body instanceof Error) pipeline.refuse(asked, body)
            else mediaJobs.serve({ ...asked, body }, "videos", 200)
          }
        }
      )
    )

  /** The body is read before the fiber exists: a fiber that waits for it would cost more than the reading. */
  const serve = (
    request: IncomingMessage,
    response: ServerResponse,
    route: InferenceRoute,
    parameters: Parameters
  ): void => {
    const form = formOf(route)
    const hasForm = form !== null && isForm(request)
    const reply = hasForm ? new UploadReply(request, response, streams, timers) : new NodeReply(response, streams)
    const receivedMs = timers.nowMs()
    const startedMs = timers.monotonicMs()
    const rest = parameters["*"] ?? ""
    const identity = identify(request, receivedMs, { tier: route.tier, category: categoryOf(route, rest) })
    const principal = identity instanceof Error ? anonymous : identity
    const dialect = dialectOf(route, {
      rest,
      query: () => queryOf(request.url ?? "/"),
      nowMs: receivedMs,
      offered: () => entriesFor(principal).map(offeredOf)
    })
    const known = "_tag" in dialect ? { codec: codecs[route.wire], fromPath: null, atOnce: null } : dialect
    const headers = decodedHeaders(request)
    const made = (body: Buffer): Exchange => ({
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
      headers,
      principal,
      madeFor: "client",
      reply,
      isOnWire: true,
      hooks: undefined
    })
    const exchange = (body: Buffer): Exchange =>
      tap.isOn ? tap.tapped(made(body), "http", pathAsked(route, rest, request.url ?? "/")) : made(body)
    if (identity instanceof Error) return pipeline.refuse(exchange(empty), identity)
    if ("_tag" in dialect) return pipeline.refuse(exchange(empty), dialect)
    const provider = providerOf(parameters)
    if (provider instanceof Error) return pipeline.refuse(exchange(empty), provider)
    if (!flags.isOn("REQUIRE_API_KEY") && isDisguised(request.headers)) {
      // A form may be sent without asking, too: only by pages that may.
      if (!hasForm) return pipeline.refuse(exchange(empty), new UnsupportedBody({ message: jsonOnly }))
      if (gate.namedOrigin(request.headers) === null) return pipeline.refuse(exchange(empty), formsOfOthers)
    }
    if (form !== null && !hasForm && !form.takesJson) return pipeline.refuse(exchange(empty), formOnly)
    // Before the body is read: what is waiting in memory is what has to be bounded.
    const entered = shedder.enter(apiKeyIdOf({ principal }))
    if (LoadShedder.isShed(entered)) return pipeline.refuse(exchange(empty), new Overloaded(entered))
    const share = bodies.share(apiKeyIdOf({ principal }))
    reply.whenOver(() => {
      entered()
      share.release()
    })
    let isRefused = false
    let giveUp = nothing
    const noLongerStop = stop.onStop(() => {
      isRefused = true
      giveUp()
      pipeline.refuse(exchange(empty), new ShuttingDown())
    })
    if (hasForm) {
      const asked = exchange(empty)
      if (isRefused) return
      giveUp = forms.receive({ request, id: asked.requestId, files: form.files, share }, (received) => {
        noLongerStop()
        if (received === "gone" || isRefused) return
        if (typeof received === "object" && "body" in received) asked.tap?.received(received.body)
        if (received === "no_room") pipeline.refuse(asked, bodies.refusal())
        else if (received instanceof Error) pipeline.refuse(asked, received)
        else if (route.key === "inference.createVideo") {
          createVideo({ ...asked, body: received.body }, received.uploads, received.discard)
        } else pipeline.serve({ ...asked, body: received.body, uploads: received.uploads }, received.discard)
      })
      return
    }
    const serveBody = (body: Buffer): void => {
      const scoped = provider === null ? body : scopedBody(scopeView(), provider, body)
      if (scoped instanceof Error) pipeline.refuse(exchange(empty), scoped)
      else if (route.key === "inference.search") searches.serve(exchange(scoped))
      else if (route.key === "inference.videos") mediaJobs.serve(exchange(scoped), "videos")
      else if (route.key === "inference.createVideo") createVideo(exchange(scoped), [], nothing)
      else if (route.key === "inference.music") mediaJobs.serve(exchange(scoped), "music")
      else pipeline.serve(exchange(scoped))
    }
    readBody(request, config.maxBodyBytes, share, (body) => {
      noLongerStop()
      if (body === "gone" || isRefused) return
      if (body === "no_room") pipeline.refuse(exchange(empty), bodies.refusal())
      else if (body === "too_large")
        pipeline.refuse(exchange(empty), new BodyTooLarge({ limitBytes: config.maxBodyBytes }))
      else if (body instanceof Error) pipeline.refuse(exchange(empty), body)
      else if (body.length < slicedFromBytes) serveBody(body)
      else slices.whenRead(body, () => serveBody(body), maxTopMembers)
    })
  }

  const rootOf = (prefix: string) => ({ name: "gateway", version, docs: `${prefix}/openapi.json` })

  const answerRoot = ({ headers }: IncomingMessage, reply: ClientReply): void => {
    const { accept } = headers
    const prefix = prefixAsked(headers)
    const requestId = ids.next(timers.nowMs())
    const isPage = wantsPage(accept)
    send(
      reply,
      requestId,
      200,
      isPage ? htmlType : "application/json",
      isPage ? pageBelow(rootPage, prefix) : JSON.stringify(rootOf(prefix)),
      ["Vary", "Accept, Origin", ...(isPage ? Object.entries(pageHeaders(rootPolicy)).flat() : [])]
    )
  }

  /** The answer of a GET route, or why there is none. */
  const answerOf = (
    request: IncomingMessage,
    route: ListingRoute | QuestionRoute,
    parameters: Parameters,
    principal: Principal
  ) => {
    const query = queryOf(request.url ?? "/")
    const modelsWhere = (keep: (entry: ModelCatalogue.CatalogueEntry) => boolean) =>
      listingOf("inference.models", "", entriesFor(principal).filter(keep), query)
    switch (route.key) {
      case "inference.editor":
        return rootOf(prefixAsked(request.headers))
      case "inference.embeddingModels":
      case "inference.imageModels":
      case "inference.videoModels":
      case "inference.musicModels": {
        const { key } = route
        return modelsWhere((entry) => isOfKind(key, entry, registry.get(entry.owned_by) ?? null))
      }
      case "inference.providerModels": {
        const provider = providerOf(parameters)
        return provider instanceof Error ? provider : modelsWhere(({ owned_by: owner }) => owner === provider?.id)
      }
      case "inference.searchProviders":
        return { providers: listProviders(catalog.current()) }
      case "inference.searchAnalytics":
        return { providers: searchCounts.list(principal) }
      case "inference.handshake":
        return handshakeAnswer({
          query,
          headers: request.headers,
          principal,
          enabled: flags.isOn("GATEWAY_UPSTREAM_WS_ENABLED"),
          keysRequired: flags.isOn("REQUIRE_API_KEY")
        })
      default:
        return listingOf(route.key, parameters["*"] ?? "", entriesFor(principal), query)
    }
  }

  const list = (
    request: IncomingMessage,
    reply: ClientReply,
    route: ListingRoute | QuestionRoute,
    parameters: Parameters
  ): void => {
    const nowMs = timers.nowMs()
    const requestId = ids.next(nowMs)
    const identity = identify(request, nowMs, route)
    const answer = identity instanceof Error ? identity : answerOf(request, route, parameters, identity)
    if (answer instanceof Error) refusePlain(reply, requestId, route, answer)
    else json(reply, requestId, 200, answer)
  }

  const answer = (
    route: EdgeRoute,
    parameters: Parameters,
    request: IncomingMessage,
    response: ServerResponse
  ): void => {
    if (isMcpRoute(route)) return mcp.handle(route, request, response)
    if (isA2aRoute(route)) return a2a.handle(route, request, response)
    if (isFileRoute(route)) {
      return files.handle(route, parameters, identify(request, timers.nowMs(), route), request, response)
    }
    if (isBatchRoute(route)) {
      const isUnasked = route.method === "POST" && !flags.isOn("REQUIRE_API_KEY") && isDisguised(request.headers)
      const caller = isUnasked ? new UnsupportedBody({ message: jsonOnly }) : identify(request, timers.nowMs(), route)
      return batches.handle(route, parameters, caller, request, response)
    }
    if (isResponseRoute(route)) {
      const nowMs = timers.nowMs()
      return responseEndpoint.handle(route, {
        address: "",
        requestId: ids.next(nowMs),
        identity: identify(request, nowMs, route),
        job: parameters["response"] ?? "",
        query: () => queryOf(request.url ?? "/"),
        reply: new NodeReply(response, streams)
      })
    }
    if (isJobRoute(route)) {
      const nowMs = timers.nowMs()
      return jobEndpoint.handle(route, {
        address: addressAsked(request.headers) ?? "",
        requestId: ids.next(nowMs),
        identity: identify(request, nowMs, route),
        job: parameters["job"] ?? "",
        query: () => queryOf(request.url ?? "/"),
        reply: new NodeReply(response, streams)
      })
    }
    if (route.tier === "inference" && route.method === "POST") return serve(request, response, route, parameters)
    const reply = new NodeReply(response, streams)
    if (route.tier === "inference") return list(request, reply, route, parameters)
    if (route.key === "system.root") return answerRoot(request, reply)
    const requestId = ids.next(timers.nowMs())
    const access = judge(request, timers.nowMs(), route)
    if (access._tag === "Allowed") return send(reply, requestId, 200, contentType, metrics())
    const { code, message, status } = access
    json(reply, requestId, status, codecs.chat.renderError(errorView(status, message, { code }), requestId))
  }

  const wrongMethod = (route: EdgeRoute, allow: string, request: IncomingMessage, reply: ClientReply): void => {
    const requestId = ids.next(timers.nowMs())
    const view = describe(new WrongMethod({ allow }))
    runFork(
      logRefusal({
        requestId,
        method: request.method ?? "",
        url: request.url ?? "/",
        status: view.status,
        reason: view.message
      })
    )
    const codec = codecs[route.wire ?? "chat"]
    send(reply, requestId, view.status, "application/json", JSON.stringify(codec.renderError(view, requestId)), [
      "Allow",
      allow
    ])
  }

  const refusePath = ({ message, wire }: WrongPath, request: IncomingMessage, response: ServerResponse): void => {
    const requestId = ids.next(timers.nowMs())
    const view = errorView(404, message, { code: "not_found" })
    const facts = { requestId, method: request.method ?? "", url: request.url ?? "/" }
    runFork(logRefusal({ ...facts, status: view.status, reason: message }))
    json(new NodeReply(response, streams), requestId, view.status, codecs[wire ?? "chat"].renderError(view, requestId))
  }

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
    if (found._tag === "Found") answer(route, found.parameters, request, response)
    else if (found._tag === "WrongMethod") {
      wrongMethod(route, found.routes.map(({ method }) => method).join(", "), request, new NodeReply(response, streams))
    }
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
  | OpenStreams.OpenStreams
  | Pipeline.Pipeline
  | StopSignal
  | TrafficTap
  | ModelCatalogue.ModelCatalogue
  | Catalog.Catalog
  | Flags
  | LoadShedder.LoadShedder
  | BodyBudget.BodyBudget
  | Slices
  | Searches
  | SearchCounts
  | FileEndpoint
  | McpEndpoint
  | A2aEndpoint
  | JobEndpoint
  | ResponseEndpoint
  | MediaJobs
  | Forms
  | BatchEndpoint
  | MetricsPage.Measured
> = Layer.effect(Edge, make)
