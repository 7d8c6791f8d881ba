/**
 * Whole requests that the gateway makes itself in a caller's name, through the ordinary pipeline: with its checks, decision record, usage row and
 * cost. They count for budgets and token limits, not for rates and sessions.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { RequestHeaders } from "../auth/Credentials.ts"
import type { Principal } from "../domain/ApiKey.ts"
import type { InferenceError } from "../domain/Errors.ts"
import type { WireName } from "../domain/Wire.ts"
import * as IdGen from "../platform/IdGen.ts"
import * as Timers from "../platform/Timers.ts"
import { chat } from "../wire/chat/Codec.ts"
import type { JsonObject } from "../wire/json/Json.ts"
import type { WireCodec } from "../wire/WireCodec.ts"
import { InnerDoor } from "./request/InnerDoor.ts"
import { makeInnerReply } from "./request/InnerReply.ts"
import type { ClientReply, Exchange } from "./request/Exchange.ts"

export interface InnerRequest {
  readonly principal: Principal
  /** What its log line shows as the path. */
  readonly path: string
  /** Not a stream. */
  readonly body: JsonObject
  /** How the body is written; absent: as a chat. */
  readonly spoken?: { readonly wire: WireName; readonly codec: WireCodec }
  /** The batch whose line it is. */
  readonly batchId?: string
  /** It is the caller's own request, by other means than HTTP: it counts for rates and sessions too. */
  readonly isCallers?: true
  /** It is asked for the sake of another request: plugins are told of its calls only. */
  readonly isAside?: true
}

/** A request as a client of its wire would have sent it, whose answer goes on as it comes. */
export interface RelayedRequest {
  readonly principal: Principal
  /** What its log line shows as the path. */
  readonly path: string
  readonly spoken: Pick<Exchange, "wire" | "codec" | "fromPath" | "atOnce">
  readonly body: Buffer
  /** Lower-case names, without credentials. */
  readonly headers: RequestHeaders
  readonly reply: ClientReply
  /** What else is done with it before it is served; absent: nothing. */
  readonly prepared?: (exchange: Exchange) => Exchange
}

export interface InnerAnswer {
  /** Of its usage row and decision record, which are on file. */
  readonly requestId: string
  readonly status: number
  readonly body: string
  readonly latencyMs: number
  /** As the answer says it; null when it says nothing. */
  readonly retryAfterMs: number | null
  /** What the answer is where it is an error of the gateway or of all targets; else null. */
  readonly error: InferenceError | null
}

export class InnerRequests extends Context.Tag("gateway/inference/InnerRequests")<
  InnerRequests,
  {
    /** A failure is an answer. Interrupted, it ends the call of the upstream, and waits until the request is settled. */
    readonly ask: (request: InnerRequest) => Effect.Effect<InnerAnswer>
    /** A client's own request, by other means than the inference routes: it counts for all limits. Never throws. `over`: as `Pipeline.serve`. */
    readonly relay: (request: RelayedRequest, over?: () => void) => void
  }
>() {}

/** An answer of which nothing came: the connection to its client would have been cut. */
const cutStatus = 502

const asChat = { wire: "chat", codec: chat } as const

/** Of a flat list of names and values. */
const retryAfterOf = (headers: ReadonlyArray<string>): number | null => {
  const at = headers.indexOf("Retry-After")
  return at === -1 ? null : Number(headers[at + 1]) * 1000
}

export const make = Effect.gen(function* () {
  const ids = yield* IdGen.IdGen
  const door = yield* InnerDoor
  const timers = yield* Timers.Timers

  const ask = Effect.fn("InnerRequests.ask")(function* ({
    batchId,
    body,
    isAside,
    isCallers,
    path,
    principal,
    spoken = asChat
  }: InnerRequest) {
    const receivedMs = timers.nowMs()
    const startedMs = timers.monotonicMs()
    const requestId = ids.next(receivedMs)
    const waiting = makeInnerReply()
    const chunks: Array<Buffer> = []
    const collect = (chunk: Buffer | string): void => {
      chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
    }
    let status = cutStatus
    let retryAfterMs: number | null = null
    let error: InferenceError | null = null
    const exchange: Exchange = {
      requestId,
      receivedMs,
      startedMs,
      ...spoken,
      method: "POST",
      path,
      body: Buffer.from(JSON.stringify(body)),
      fromPath: null,
      atOnce: null,
      headers: {},
      principal,
      ...(isCallers === true ? {} : { isInner: true }),
      ...(isAside === true ? { isAside } : {}),
      ...(batchId === undefined ? {} : { batchId }),
      onError: (told) => {
        error = told
      },
      reply: {
        ...waiting,
        head: (answered, headers) => {
          status = answered
          retryAfterMs = retryAfterOf(headers)
        },
        write: (chunk) => {
          collect(chunk)
          return true
        },
        end: collect
      }
    }
    const over = yield* Deferred.make<void>()
    // The answer is told at the end of the turn in which the request is over.
    door.serve(exchange, () => timers.soon(() => Deferred.unsafeDone(over, Effect.void)))
    const leave = Effect.zipRight(Effect.sync(waiting.leave), Deferred.await(over))
    yield* Effect.onInterrupt(Deferred.await(over), () => leave)
    const latencyMs = timers.monotonicMs() - startedMs
    return { requestId, status, body: Buffer.concat(chunks).toString(), latencyMs, retryAfterMs, error }
  })

  const relay = (request: RelayedRequest, over?: () => void): void => {
    const { body, headers, path, prepared, principal, reply, spoken } = request
    const receivedMs = timers.nowMs()
    const { atOnce, codec, fromPath, wire } = spoken
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
      principal,
      reply
    }
    door.serve(prepared === undefined ? exchange : prepared(exchange), over)
  }

  return InnerRequests.of({ ask, relay })
})

export const layer: Layer.Layer<InnerRequests, never, IdGen.IdGen | InnerDoor | Timers.Timers> = Layer.effect(
  InnerRequests,
  make
)
