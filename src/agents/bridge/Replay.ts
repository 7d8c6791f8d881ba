/**
 * A recorded request to a model, asked again: as an ordinary request of the one who replays it, with their limits and a usage row of its own. The
 * credential that was recorded, of which nothing is left but its mask, is never used.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { Principal } from "../../subjects/keys/entity.ts"
import type { TrafficRecord } from "../../contract/domain/TrafficRecord.ts"
import * as InnerRequests from "../../plane/InnerRequests.ts"
import { changingHead, withHeaders } from "../../plane/reply/ReplyHeaders.ts"
import { wrapped } from "../../plane/reply/Wrapped.ts"
import type { ClientReply } from "../../plane/request/Exchange.ts"
import { GatewayCapture } from "../../plane/tap/GatewayCapture.ts"
import { TrafficTap } from "../../plane/tap/TrafficTap.ts"
import type { RecordNotFound } from "../../observe/inspector/Inspector.ts"
import { LazyInspector } from "../../observe/inspector/LazyInspector.ts"
import * as Timers from "../../platform/Timers.ts"
import { readForeignJson } from "../../wire/json/Bounds.ts"
import { isObject, type JsonObject } from "../../wire/json/Json.ts"
import { ownHeaders } from "./Headers.ts"
import { type RequestFormat, requestFormatOf } from "./RequestWire.ts"

/** The record is no request to a model, or in a format that this gateway does not serve. */
export class ReplayNotLlm extends Data.TaggedError("ReplayNotLlm")<{ readonly id: string }> {}

/** Error of a body that is not stored completely, when no other was given. */
export class BodyTruncated extends Data.TaggedError("BodyTruncated")<{ readonly id: string }> {}

/** The answer broke before its head: there is none to be had. */
export class NoAnswer extends Data.TaggedError("NoAnswer")<{ readonly id: string }> {}

/** Changes to the recorded request. */
export interface ReplayChanges {
  /** Body in place of the recorded one. */
  readonly body?: JsonObject
  readonly model?: string
  /** Headers beside and in place of the recorded ones. Credentials among them are left out. */
  readonly headers?: Readonly<Record<string, string>>
}

/** Request that will be sent. */
export interface Replayed {
  readonly record: TrafficRecord
  readonly spoken: RequestFormat
  readonly body: JsonObject
  readonly headers: Readonly<Record<string, string>>
}

export class Replay extends Context.Tag("gateway/agents/bridge/Replay")<
  Replay,
  {
    /** Asks, and answers `reply` as it comes, in the wire of the record. Nothing is written to it where this fails. */
    readonly ask: (
      id: string,
      changes: ReplayChanges,
      principal: Principal,
      reply: ClientReply
    ) => Effect.Effect<void, RecordNotFound | ReplayNotLlm | BodyTruncated | NoAnswer>
  }
>() {}

const bodyOf = ({ requestBody }: TrafficRecord): JsonObject | null => {
  const parsed = requestBody === null ? null : readForeignJson(requestBody)
  return isObject(parsed) ? parsed : null
}

/** Pure. */
export const replayed = (record: TrafficRecord, changes: ReplayChanges): Replayed | ReplayNotLlm | BodyTruncated => {
  const { id, llm, path } = record
  if (llm === null) return new ReplayNotLlm({ id })
  if (changes.body === undefined && (record.requestTruncated || record.requestBody === null)) {
    return new BodyTruncated({ id })
  }
  const body = changes.body ?? bodyOf(record)
  const spoken = body === null ? null : requestFormatOf(path, body)
  if (body === null || spoken === null) return new ReplayNotLlm({ id })
  const headers = { ...record.requestHeaders }
  for (const [name, value] of Object.entries(changes.headers ?? {})) headers[name.toLowerCase()] = value
  const { model } = changes
  if (model === undefined) return { record, spoken, body, headers }
  return spoken.fromPath === null
    ? { record, spoken: { ...spoken, model }, body: { ...body, model }, headers }
    : { record, spoken: { ...spoken, model, fromPath: { ...spoken.fromPath, model } }, body, headers }
}

export const make = Effect.gen(function* () {
  const lazyInspector = yield* LazyInspector
  const requests = yield* InnerRequests.InnerRequests
  const tap = yield* TrafficTap
  const capture = yield* GatewayCapture
  const timers = yield* Timers.Timers

  const ask = Effect.fn("Replay.ask")(function* (
    id: string,
    changes: ReplayChanges,
    principal: Principal,
    reply: ClientReply
  ) {
    const { inspector } = yield* lazyInspector.get
    // The body as it is kept; of headers that are kept as they came none goes on that may be a credential.
    const { requestBody } = yield* inspector.get(id, true)
    const asked = replayed({ ...(yield* inspector.get(id)), requestBody }, changes)
    if (asked instanceof ReplayNotLlm || asked instanceof BodyTruncated) return yield* asked
    const sink = yield* capture.sink
    const { body, headers, record, spoken } = asked
    let hasHead = false
    const own = wrapped(
      changingHead(reply, (_, list) => {
        hasHead = true
        return withHeaders(list, ["X-Gateway-Replay-Of", id])
      }),
      { cut: () => (hasHead ? reply.cut() : undefined) }
    )
    const facts = { source: "gateway", scheme: "http", host: "localhost", path: record.path, replayOf: id } as const
    yield* Effect.async<void, NoAnswer>((resume) =>
      requests.relay(
        {
          behalf: { principal, madeFor: "client", category: spoken.category },
          path: "/api/tools/traffic-inspector/requests/replay",
          format: spoken,
          body: Buffer.from(JSON.stringify(body)),
          headers: ownHeaders(headers),
          reply: own,
          prepared: (exchange) => tap.recorded(exchange, facts, sink)
        },
        // The fiber is resumed at the end of the turn in which the request is over.
        () => timers.soon(() => resume(hasHead ? Effect.void : new NoAnswer({ id })))
      )
    )
  })

  return Replay.of({ ask })
})

export const layer: Layer.Layer<
  Replay,
  never,
  LazyInspector | InnerRequests.InnerRequests | TrafficTap | GatewayCapture | Timers.Timers
> = Layer.effect(Replay, make)
