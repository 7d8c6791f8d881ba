/**
 * Requests to models, from their heads to the pipeline. Nothing waits in a fiber for the body: it is read before the fiber exists,
 * which would cost more than the reading.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import type { InferenceRoute } from "../../contract/EdgeRoutes.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import {
  UnsupportedBody,
  UploadNotKept,
  type InferenceError,
  Overloaded,
  ShuttingDown,
  BodyTooLarge
} from "../../contract/domain/Errors.ts"
import { queryOf } from "../files/ListingPages.ts"
import * as Gate from "../../subjects/auth/Gate.ts"
import { makeCallers, isDisguised, jsonOnly } from "../edge/Callers.ts"
import * as AppConfig from "../../platform/AppConfig.ts"
import * as IdGen from "../../platform/IdGen.ts"
import { isProved } from "../../subjects/auth/ActingAs.ts"
import * as Timers from "../../platform/Timers.ts"
import * as OpenStreams from "../listening/OpenStreams.ts"
import * as Pipeline from "../../plane/Pipeline.ts"
import { StopSignal } from "../../plane/request/StopSignal.ts"
import { TrafficTap } from "../../plane/tap/TrafficTap.ts"
import * as ModelCatalogue from "../../plane/catalogue/ModelCatalogue.ts"
import * as Catalog from "../../plane/providers/Catalog.ts"
import { Flags } from "../../subjects/flags/service.ts"
import * as LoadShedder from "../../plane/resilience/LoadShedder.ts"
import * as BodyBudget from "../../plane/resilience/BodyBudget.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import { Searches } from "../../plane/search/Searches.ts"
import { Forms, isForm, formOnly } from "../forms/Forms.ts"
import { MediaJobs } from "../../plane/jobs/MediaJobs.ts"
import { type Exchange, apiKeyIdOf } from "../../plane/request/Exchange.ts"
import type { Uploads } from "../../plane/request/Uploads.ts"
import { videoBody } from "../jobs/VideoBody.ts"
import { NodeReply } from "../listening/NodeReply.ts"
import { UploadReply } from "../forms/UploadReply.ts"
import { type FormRoute, type Dialect, formOf, categoryOf, dialectOf } from "../edge/Dialects.ts"
import type { RequestHeaders } from "../../subjects/auth/Credentials.ts"
import type { ProviderSpec } from "../../contract/domain/Provider.ts"
import type { Parameters } from "../../contract/Routes.ts"
import { offeredOf } from "../edge/Listings.ts"
import { decodedHeaders } from "../listening/ContentCodings.ts"
import { codecs } from "../../wire/Codec.ts"
import { providerOf, scopedBody, scopeOf } from "../edge/ProviderScope.ts"
import type { BodyShare } from "../../plane/resilience/BodyBudget.ts"
import { readBody } from "../listening/RequestBody.ts"
import { isKeptById } from "../relay/Home.ts"
import { Relay } from "../relay/Relay.ts"
import { slicedFromBytes } from "../../wire/json/LargeBodies.ts"
import { maxTopMembers } from "../../wire/json/Excess.ts"

const empty = Buffer.alloc(0)
const nothing = (): void => {}

const formsOfOthers = new UnsupportedBody({
  message: "Pages of other origins may send forms only when CORS_ORIGINS names them, or with an API key."
})

/**
 * Writes the path as the client asked it, without parts that may be a key: those are in the query, or in parameters of
 * the path.
 */
const requestedPath = ({ path }: InferenceRoute, rest: string, url: string): string => {
  if (!path.includes("*")) return path
  const form = queryOf(url).get("alt")
  return path.replace("*", () => rest) + (form === null ? "" : `?alt=${encodeURIComponent(form)}`)
}

/** The services that a request passes before it is in the pipeline. */
type Parts = Effect.Effect.Success<typeof partsOf>

const partsOf = Effect.gen(function* () {
  const gate = yield* Gate.Gate
  return {
    gate,
    callers: yield* makeCallers,
    config: yield* AppConfig.AppConfig,
    ids: yield* IdGen.IdGen,
    timers: yield* Timers.Timers,
    streams: yield* OpenStreams.OpenStreams,
    pipeline: yield* Pipeline.Pipeline,
    stop: yield* StopSignal,
    tap: yield* TrafficTap,
    catalogue: yield* ModelCatalogue.ModelCatalogue,
    catalog: yield* Catalog.Catalog,
    flags: yield* Flags,
    shedder: yield* LoadShedder.LoadShedder,
    bodies: yield* BodyBudget.BodyBudget,
    slices: yield* Slices,
    searches: yield* Searches,
    forms: yield* Forms,
    mediaJobs: yield* MediaJobs,
    relay: yield* Relay,
    runFork: Runtime.runFork(yield* Effect.runtime<never>())
  }
})

/** Creates the job. It has all of its request then: the files are not needed any more. */
const createVideo = (
  { mediaJobs, pipeline, runFork }: Parts,
  asked: Exchange,
  uploads: Uploads,
  discard: () => void
): void =>
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

/** One request until the pipeline has it. A class, because one is made per request. */
class Arrival {
  readonly #parts: Parts
  readonly #route: InferenceRoute
  readonly #request: IncomingMessage
  readonly #response: ServerResponse
  readonly #reply: NodeReply | UploadReply
  /** Form that the request is; null: its body is its content. */
  readonly #upload: FormRoute | null
  readonly #requestId: string
  readonly #receivedMs: number
  readonly #startedMs: number
  readonly #rest: string
  readonly #identity: Principal | InferenceError
  readonly #principal: Principal
  readonly #dialect: Dialect | InferenceError
  readonly #headers: RequestHeaders
  /** The provider that the path names; null: none. */
  #provider: ProviderSpec | null = null
  #isRefused = false
  #giveUp = nothing

  constructor(
    parts: Parts,
    route: InferenceRoute,
    parameters: Parameters,
    request: IncomingMessage,
    response: ServerResponse
  ) {
    const { ids, streams, timers } = parts
    const form = formOf(route)
    this.#parts = parts
    this.#route = route
    this.#request = request
    this.#response = response
    this.#upload = form !== null && isForm(request) ? form : null
    this.#reply =
      this.#upload === null ? new NodeReply(response, streams) : new UploadReply(request, response, streams, timers)
    this.#receivedMs = timers.nowMs()
    this.#startedMs = timers.monotonicMs()
    this.#requestId = ids.next(this.#receivedMs)
    this.#rest = parameters["*"] ?? ""
    const { handler, key, tier } = route
    const judged = { handler, key, tier, category: categoryOf(route, this.#rest) }
    this.#identity = parts.callers.identify(request, this.#receivedMs, judged, this.#requestId)
    const principal =
      this.#identity instanceof Error ? parts.callers.refused(request, this.#receivedMs, judged) : this.#identity
    this.#principal = principal
    this.#dialect = dialectOf(route, {
      rest: this.#rest,
      query: () => queryOf(request.url ?? "/"),
      nowMs: this.#receivedMs,
      offered: () => parts.catalogue.entries(principal._tag === "Key" ? principal.key : null).map(offeredOf)
    })
    this.#headers = decodedHeaders(request)
  }

  serve(parameters: Parameters): void {
    const refusal = this.#refusal(parameters)
    if (refusal !== null) return this.#refuse(refusal)
    const { bodies, shedder, stop } = this.#parts
    const caller = apiKeyIdOf({ principal: this.#principal })
    // Before the body is read: what is waiting in memory is what has to be bounded.
    const entered = shedder.enter(caller)
    if (LoadShedder.isShed(entered)) return this.#refuse(new Overloaded(entered))
    const share = bodies.share(caller)
    this.#reply.whenOver(() => {
      entered()
      share.release()
    })
    const noLongerStop = stop.onStop(() => {
      this.#isRefused = true
      this.#giveUp()
      this.#refuse(new ShuttingDown())
    })
    if (this.#upload === null) this.#receiveBody(share, noLongerStop)
    else this.#receiveForm(this.#upload, share, noLongerStop)
  }

  #exchange(body: Buffer): Exchange {
    const { tap } = this.#parts
    const dialect = this.#dialect
    const isKnown = !("_tag" in dialect)
    const made: Exchange = {
      requestId: this.#requestId,
      receivedMs: this.#receivedMs,
      startedMs: this.#startedMs,
      wire: this.#route.wire,
      codec: isKnown ? dialect.codec : codecs[this.#route.wire],
      method: this.#request.method ?? "POST",
      path: this.#route.path,
      body,
      fromPath: isKnown ? dialect.fromPath : null,
      atOnce: isKnown ? dialect.atOnce : null,
      headers: this.#headers,
      principal: this.#principal,
      madeFor: "client",
      reply: this.#reply,
      isOnWire: true,
      hooks: undefined
    }
    return tap.isOn ? tap.tapped(made, "http", requestedPath(this.#route, this.#rest, this.#request.url ?? "/")) : made
  }

  #refuse(error: InferenceError): void {
    this.#parts.pipeline.refuse(this.#exchange(empty), error)
  }

  /** Checks the head of the request. */
  #refusal(parameters: Parameters): InferenceError | null {
    const { catalog, flags, gate } = this.#parts
    if (this.#identity instanceof Error) return this.#identity
    if ("_tag" in this.#dialect) return this.#dialect
    const provider = providerOf(catalog, parameters)
    if (provider instanceof Error) return provider
    this.#provider = provider
    const hasForm = this.#upload !== null
    if (!flags.isOn("REQUIRE_API_KEY") && isDisguised(this.#request.headers) && !isProved(this.#principal)) {
      // A form may be sent without asking, too: only by pages that may.
      if (!hasForm) return new UnsupportedBody({ message: jsonOnly })
      if (gate.namedOrigin(this.#request.headers) === null) return formsOfOthers
    }
    const form = formOf(this.#route)
    return form !== null && !hasForm && !form.takesJson ? formOnly : null
  }

  #receiveForm({ files }: FormRoute, share: BodyShare, noLongerStop: () => void): void {
    const { bodies, forms, pipeline } = this.#parts
    const asked = this.#exchange(empty)
    if (this.#isRefused) return
    this.#giveUp = forms.receive({ request: this.#request, id: asked.requestId, files, share }, (received) => {
      noLongerStop()
      if (received === "gone" || this.#isRefused) return
      if (typeof received === "object" && "body" in received) asked.tap?.received(received.body)
      if (received === "no_room") pipeline.refuse(asked, bodies.refusal())
      else if (received instanceof Error) pipeline.refuse(asked, received)
      else if (this.#route.key === "inference.createVideo") {
        createVideo(this.#parts, { ...asked, body: received.body }, received.uploads, received.discard)
      } else pipeline.serve({ ...asked, body: received.body, uploads: received.uploads }, received.discard)
    })
  }

  #receiveBody(share: BodyShare, noLongerStop: () => void): void {
    const { bodies, config, slices } = this.#parts
    readBody(this.#request, config.maxBodyBytes, share, (body) => {
      noLongerStop()
      if (body === "gone" || this.#isRefused) return
      if (body === "no_room") this.#refuse(bodies.refusal())
      else if (body === "too_large") this.#refuse(new BodyTooLarge({ limitBytes: config.maxBodyBytes }))
      else if (body instanceof Error) this.#refuse(body)
      else if (body.length < slicedFromBytes) this.#serveBody(body)
      else slices.whenRead(body, () => this.#serveBody(body), maxTopMembers)
    })
  }

  #serveBody(body: Buffer): void {
    const { catalog, mediaJobs, pipeline, relay, searches } = this.#parts
    if (relay !== null && isKeptById(this.#route.wire, this.#headers, body)) {
      return relay.request(this.#request.url ?? "/", this.#request, this.#response, body)
    }
    const scoped = this.#provider === null ? body : scopedBody(scopeOf(catalog), this.#provider, body)
    if (scoped instanceof Error) return this.#refuse(scoped)
    const exchange = this.#exchange(scoped)
    switch (this.#route.key) {
      case "inference.search":
        return searches.serve(exchange)
      case "inference.videos":
        return mediaJobs.serve(exchange, "videos")
      case "inference.createVideo":
        return createVideo(this.#parts, exchange, [], nothing)
      case "inference.music":
        return mediaJobs.serve(exchange, "music")
      default:
        return pipeline.serve(exchange)
    }
  }
}

export const make = Effect.map(
  partsOf,
  (parts) =>
    (route: InferenceRoute, parameters: Parameters, request: IncomingMessage, response: ServerResponse): void =>
      new Arrival(parts, route, parameters, request, response).serve(parameters)
)
