/**
 * Whole requests that the gateway makes itself in a caller's name, through the ordinary pipeline: with its checks, decision record, usage row and
 * cost. They count for budgets and token limits, not for rates and sessions.
 */
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Principal } from "../domain/ApiKey.ts"
import * as IdGen from "../platform/IdGen.ts"
import * as Timers from "../platform/Timers.ts"
import { chat } from "../wire/chat/Codec.ts"
import type { JsonObject } from "../wire/json/Json.ts"
import { Pipeline } from "./Pipeline.ts"
import { makeInnerReply } from "./request/InnerReply.ts"
import type { Exchange } from "./request/Exchange.ts"

export interface InnerRequest {
  readonly principal: Principal
  /** What its log line shows as the path. */
  readonly path: string
  /** Of the chat wire, not a stream. */
  readonly body: JsonObject
}

export interface InnerAnswer {
  /** Of its usage row and decision record, which are on file. */
  readonly requestId: string
  readonly status: number
  readonly body: string
  readonly latencyMs: number
}

export class InnerRequests extends Context.Tag("gateway/inference/InnerRequests")<
  InnerRequests,
  {
    /** A failure is an answer. Interrupted, it ends the call of the upstream, and waits until the request is settled. */
    readonly ask: (request: InnerRequest) => Effect.Effect<InnerAnswer>
  }
>() {}

/** An answer of which nothing came: the connection to its client would have been cut. */
const cutStatus = 502

export const make = Effect.gen(function* () {
  const ids = yield* IdGen.IdGen
  const pipeline = yield* Pipeline
  const timers = yield* Timers.Timers

  const ask = Effect.fn("InnerRequests.ask")(function* ({ body, path, principal }: InnerRequest) {
    const receivedMs = timers.nowMs()
    const startedMs = timers.monotonicMs()
    const requestId = ids.next(receivedMs)
    const waiting = makeInnerReply()
    const chunks: Array<Buffer> = []
    const collect = (chunk: Buffer | string): void => {
      chunks.push(typeof chunk === "string" ? Buffer.from(chunk) : chunk)
    }
    let status = cutStatus
    const exchange: Exchange = {
      requestId,
      receivedMs,
      startedMs,
      wire: "chat",
      codec: chat,
      method: "POST",
      path,
      body: Buffer.from(JSON.stringify(body)),
      fromPath: null,
      atOnce: null,
      headers: {},
      principal,
      isInner: true,
      reply: {
        ...waiting,
        head: (answered) => {
          status = answered
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
    pipeline.serve(exchange, () => timers.soon(() => Deferred.unsafeDone(over, Effect.void)))
    const leave = Effect.zipRight(Effect.sync(waiting.leave), Deferred.await(over))
    yield* Effect.onInterrupt(Deferred.await(over), () => leave)
    const latencyMs = timers.monotonicMs() - startedMs
    return { requestId, status, body: Buffer.concat(chunks).toString(), latencyMs }
  })

  return InnerRequests.of({ ask })
})

export const layer: Layer.Layer<InnerRequests, never, IdGen.IdGen | Pipeline | Timers.Timers> = Layer.effect(
  InnerRequests,
  make
)
