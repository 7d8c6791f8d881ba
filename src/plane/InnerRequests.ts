/**
 * Whole requests that the gateway makes itself in a caller's name, through the ordinary pipeline: with its checks, decision record, usage row and
 * cost. Each carries its caller (`Behalf`): that caller's rights and limits hold, whatever interface it came by.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RequestHeaders } from "../subjects/auth/Credentials.ts"
import { innerProblemOf } from "../subjects/auth/KeyPolicy.ts"
import type { EndpointCategory, Principal } from "../subjects/keys/entity.ts"
import { type InferenceError, KeyRejected } from "../contract/domain/Errors.ts"
import type { WireName } from "../contract/domain/Wire.ts"
import * as IdGen from "../platform/IdGen.ts"
import * as Timers from "../platform/Timers.ts"
import { chat } from "../wire/chat/Codec.ts"
import type { JsonObject } from "../wire/json/Json.ts"
import type { WireCodec } from "../wire/WireCodec.ts"
import { InnerPipeline, type Serve } from "./request/InnerPipeline.ts"
import { type Heard, makeInnerReply } from "./request/InnerReply.ts"
import type { ClientReply, Exchange, MadeFor } from "./request/Exchange.ts"

/** A request of the caller's own, by other means than the inference routes: asked for by the caller, or by an order of the caller's. */
export interface OwnBehalf {
  readonly principal: Principal
  readonly madeFor: Extract<MadeFor, "client" | "order">
  /** Category that it has on the inference routes. A key that may not use those may not use this. */
  readonly category: EndpointCategory
}

/** Serves another request of the caller's, which was judged and counted. */
export interface AsideBehalf {
  readonly principal: Principal
  readonly madeFor: "aside"
}

/** Caller on whose behalf a request is made. No part of it has a default. */
export type Behalf = OwnBehalf | AsideBehalf

export interface InnerRequest {
  readonly behalf: Behalf
  /** Path shown in its log line. */
  readonly path: string
  /** Body of the request, which asks for no stream. */
  readonly body: JsonObject
  /** Wire and codec of the body; absent: chat. */
  readonly format?: { readonly wire: WireName; readonly codec: WireCodec }
  /** The batch whose line it is. */
  readonly batchId?: string
  /** Changes the exchange as for a relayed request. */
  readonly prepared?: (exchange: Exchange) => Exchange
  /** Serves the request; absent: the pipeline does. */
  readonly by?: (exchange: Exchange, over: () => void) => void
}

/** A request as a client of its wire would have sent it, whose answer goes on as it comes. */
export interface RelayedRequest {
  readonly behalf: OwnBehalf
  /** Path shown in its log line. */
  readonly path: string
  readonly format: Pick<Exchange, "wire" | "codec" | "fromPath" | "atOnce">
  readonly body: Buffer
  /** Lower-case names, without credentials. */
  readonly headers: RequestHeaders
  readonly reply: ClientReply
  /** Changes the exchange before it is served; absent: nothing changes. */
  readonly prepared?: (exchange: Exchange) => Exchange
}

/** A relayed request whose answer is received here piece by piece. */
export interface HeardRequest extends Omit<RelayedRequest, "reply"> {
  readonly heard: Heard
}

export interface InnerAnswer {
  /** Id of its usage row and decision record, which are stored by now. */
  readonly requestId: string
  readonly status: number
  readonly body: string
  readonly latencyMs: number
  /** Wait in ms before a retry, as the answer says it; null when it says nothing. */
  readonly retryAfterMs: number | null
  /** Tokens as the gateway counted them; null when the answer says nothing of them, as errors do. */
  readonly tokens: { readonly in: number; readonly out: number } | null
  /** Error of the gateway or of all targets; null for an answer. */
  readonly error: InferenceError | null
}

export class InnerRequests extends Context.Tag("gateway/plane/InnerRequests")<
  InnerRequests,
  {
    /** A failure is an answer. Interrupted, it ends the call of the upstream, and waits until the request is settled. */
    readonly ask: (request: InnerRequest) => Effect.Effect<InnerAnswer>
    /** Answers as it comes. Never throws. `over`: as `Pipeline.serve`. */
    readonly relay: (request: RelayedRequest, over?: () => void) => void
    /**
     * Works as `relay`, and ends when the request is settled. Interrupted, it ends the call of the upstream, and waits
     * for that too.
     */
    readonly hear: (request: HeardRequest) => Effect.Effect<void>
  }
>() {}

/** An answer of which nothing came: the connection to its client would have been cut. */
const cutStatus = 502

const asChat = { wire: "chat", codec: chat } as const

const nothing = (): void => {}

/** Finds a header in a flat list of names and values, as the gateway writes them; null without it. */
export const headerIn = (headers: ReadonlyArray<string>, name: string): string | null => {
  const at = headers.indexOf(name)
  return at === -1 ? null : (headers[at + 1] ?? null)
}

const retryAfterOf = (headers: ReadonlyArray<string>): number | null => {
  const seconds = headerIn(headers, "Retry-After")
  return seconds === null ? null : Number(seconds) * 1000
}

/** Reads the tokens from headers or trailers (`costFacts`); null where they say nothing of them. */
export const tokensIn = (facts: ReadonlyArray<string>): InnerAnswer["tokens"] => {
  const counted = headerIn(facts, "X-Gateway-Tokens-In")
  return counted === null ? null : { in: Number(counted), out: Number(headerIn(facts, "X-Gateway-Tokens-Out")) }
}

const services = Effect.all({ ids: IdGen.IdGen, pipeline: InnerPipeline, timers: Timers.Timers })
type Deps = Effect.Effect.Success<typeof services>

/** Waits for the end of a request; interrupted, it is left before. */
const settled = ({ timers }: Deps, serve: (over: () => void) => void, leave: () => void): Effect.Effect<void> =>
  Effect.gen(function* () {
    const over = yield* Deferred.make<void>()
    // The fiber is resumed at the end of the turn in which the request is over.
    serve(() => timers.soon(() => Deferred.unsafeDone(over, Effect.void)))
    yield* Effect.onInterrupt(Deferred.await(over), () => Effect.zipRight(Effect.sync(leave), Deferred.await(over)))
  })

/** Hands a request on, where the rights of its caller allow it. */
const enter = (
  { pipeline }: Deps,
  behalf: Behalf,
  exchange: Exchange,
  over: () => void,
  by: Serve = pipeline.serve
): void => {
  const { principal } = behalf
  const reason =
    behalf.madeFor === "aside" || principal._tag !== "Key"
      ? null
      : innerProblemOf(principal.key, exchange.receivedMs, behalf.category)
  if (reason === null) return by(exchange, over)
  pipeline.refuse(exchange, new KeyRejected({ reason, model: null }))
  over()
}

const ask = Effect.fn("InnerRequests.ask")(function* (
  deps: Deps,
  { batchId, behalf, body, by, path, prepared, format = asChat }: InnerRequest
) {
  const { ids, timers } = deps
  const receivedMs = timers.nowMs()
  const startedMs = timers.monotonicMs()
  const requestId = ids.next(receivedMs)
  const chunks: Array<Buffer> = []
  const collect = (chunk: Buffer | string): void => {
    chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
  }
  let status = cutStatus
  let retryAfterMs: number | null = null
  let tokens: InnerAnswer["tokens"] = null
  let error: InferenceError | null = null
  const reply = makeInnerReply({
    head: (answered, headers) => {
      status = answered
      retryAfterMs = retryAfterOf(headers)
      tokens = tokensIn(headers)
    },
    write: (chunk) => {
      collect(chunk)
      return true
    },
    end: collect
  })
  const exchange: Exchange = {
    requestId,
    receivedMs,
    startedMs,
    ...format,
    method: "POST",
    path,
    body: Buffer.from(JSON.stringify(body)),
    fromPath: null,
    atOnce: null,
    headers: {},
    principal: behalf.principal,
    madeFor: behalf.madeFor,
    ...(batchId === undefined ? {} : { batchId }),
    onError: (refusal) => {
      error = refusal
    },
    reply
  }
  const served = prepared === undefined ? exchange : prepared(exchange)
  yield* settled(deps, (over) => enter(deps, behalf, served, over, by), reply.leave)
  const latencyMs = timers.monotonicMs() - startedMs
  return { requestId, status, body: Buffer.concat(chunks).toString(), latencyMs, retryAfterMs, tokens, error }
})

const relayed = (deps: Deps, request: RelayedRequest, isOnWire: boolean, over: () => void): void => {
  const { ids, timers } = deps
  const { behalf, body, headers, path, prepared, reply, format } = request
  const receivedMs = timers.nowMs()
  const { atOnce, codec, fromPath, wire } = format
  const exchange: Exchange = {
    requestId: ids.next(receivedMs),
    receivedMs,
    startedMs: timers.monotonicMs(),
    wire,
    codec,
    method: "POST",
    path,
    body,
    fromPath,
    atOnce,
    headers,
    principal: behalf.principal,
    madeFor: behalf.madeFor,
    reply,
    ...(isOnWire ? { isOnWire } : {})
  }
  enter(deps, behalf, prepared === undefined ? exchange : prepared(exchange), over)
}

const relay = (deps: Deps, request: RelayedRequest, over: () => void = nothing): void =>
  relayed(deps, request, true, over)

const hear = Effect.fn("InnerRequests.hear")(function* (deps: Deps, { heard, ...request }: HeardRequest) {
  const reply = makeInnerReply(heard)
  yield* settled(deps, (over) => relayed(deps, { ...request, reply }, false, over), reply.leave)
})

export const make = Effect.map(services, (deps) =>
  InnerRequests.of({
    ask: (request) => ask(deps, request),
    relay: (request, over) => relay(deps, request, over),
    hear: (request) => hear(deps, request)
  })
)

export const layer: Layer.Layer<InnerRequests, never, Effect.Effect.Context<typeof services>> = Layer.effect(
  InnerRequests,
  make
)
