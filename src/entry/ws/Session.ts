/**
 * One socket: reads the client's frames, runs each request through the ordinary pipeline, and ends when it must. The conversation
 * so far is kept under the ids of its responses for as long as the socket is open.
 */
import * as Either from "effect/Either"
import type { RawData, WebSocket } from "ws"
import type { RequestHeaders } from "../../subjects/auth/Credentials.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { BodyTooLarge, type BufferFull, describe, type ErrorView } from "../../domain/Errors.ts"
import type { Exchange } from "../../plane/request/Exchange.ts"
import { retryAfterOf } from "../../plane/request/Headers.ts"
import type { ResponseHistory } from "../../plane/state/ResponseHistory.ts"
import type { BodyBudget, BodyShare } from "../../plane/resilience/BodyBudget.ts"
import { codecs } from "../../wire/Codec.ts"
import { type JsonObject, optional, stringOr } from "../../wire/json/Json.ts"
import type { Slices } from "../../plane/resilience/Slices.ts"
import { maxTopMembers } from "../../wire/json/Excess.ts"
import { slicedFromBytes } from "../../wire/json/LargeBodies.ts"
import { type ClientFrame, readClientFrame } from "./ClientFrames.ts"
import { makeLanes } from "./Lanes.ts"
import { errorFrame, transportError, withMembers } from "./ServerFrames.ts"
import { SocketReply } from "./SocketReply.ts"
import { makeSocketWriter } from "./SocketWriter.ts"
import { warmUp } from "./WarmUp.ts"

export interface SessionFacts {
  /** Id of the socket, sent in the headers of the upgrade. */
  readonly id: string
  /** Path of the route, as for a request over HTTP. */
  readonly path: string
  /** Headers of the upgrade that speak for each request too. */
  readonly headers: RequestHeaders
  readonly openedMs: number
  /** Id of the key that opened it; null: it came without one. */
  readonly apiKeyId: string | null
}

export interface SessionServices {
  readonly nowMs: () => number
  readonly monotonicMs: () => number
  readonly nextId: (nowMs: number) => string
  /** Identifies the caller, judged anew for every request: a key may be revoked while its socket is open. */
  readonly judge: (nowMs: number) => Principal | ErrorView
  readonly serve: (exchange: Exchange) => void
  readonly refuse: (exchange: Exchange, error: BodyTooLarge | BufferFull) => void
  readonly bodies: Pick<typeof BodyBudget.Service, "share" | "refusal">
  readonly history: ResponseHistory
  readonly maxBodyBytes: number
  /** Slices for large frames. */
  readonly slices: Pick<typeof Slices.Service, "whenRead" | "whenWritten">
  /** Call when a response begins; call the returned function when it has ended. */
  readonly began: () => () => void
}

export interface Session {
  /** Counts bytes of an incomplete frame. False when the budget is exhausted: the client got an error, and the socket must be closed. */
  readonly arriving: (bytes: number) => boolean
  /** Called every half minute: ends a socket whose client is gone, or whose time is over. */
  readonly tick: (nowMs: number) => void
  /** Ends at once when nothing runs, else after what runs. */
  readonly drain: () => void
  /** Cuts the connection. */
  readonly cut: () => void
}

export type SessionSocket = Pick<
  WebSocket,
  "readyState" | "OPEN" | "bufferedAmount" | "send" | "close" | "terminate" | "ping" | "pause" | "resume" | "on"
>

type Create = Extract<ClientFrame, { readonly _tag: "Create" }>

/** A request, and what it takes of the budget until its response is over. */
interface Job extends Create {
  readonly bytes: number
  readonly share: BodyShare
}

/** A socket lives this long; clients open another. */
export const maxLifetimeMs = 60 * 60_000

const maxLanes = 8
const maxQueued = 16

const closeCodes = { normal: 1000, goingAway: 1001, unsupportedData: 1003, tryAgainLater: 1013 }

const limitReached = transportError(
  400,
  "websocket_connection_limit_reached",
  `A connection lasts ${maxLifetimeMs / 60_000} minutes. Open a new one to go on.`
)
const shuttingDown = transportError(503, "server_shutting_down", "The gateway is stopping. Connect again to go on.")
const cancelled = transportError(499, "response_cancelled", "The response was cancelled by the client.")
const notRunning = transportError(400, "response_cancel_not_active", "There is no response to cancel.")
const noBinary = transportError(400, null, "Frames must be text: one JSON object each.")
const tooManyLanes = transportError(
  429,
  "too_many_streams",
  `At most ${maxLanes} streams (stream_id) may run on one connection.`,
  "stream_id"
)
const queueFull = transportError(429, "too_many_requests", "Too many requests wait on this connection.")

const byteLength = (data: RawData): number =>
  Array.isArray(data) ? data.reduce((sum, part) => sum + part.length, 0) : data.byteLength

const bytesOf = (data: RawData): Buffer => {
  if (Array.isArray(data)) return Buffer.concat(data)
  return Buffer.isBuffer(data) ? data : Buffer.from(data)
}

/** Serves a socket until it closes: every frame is a request of its own, one after the other in its lane. */
export const openSession = (socket: SessionSocket, facts: SessionFacts, services: SessionServices): Session => {
  const { bodies, history } = services
  const running = new Map<string | null, SocketReply>()
  let alive = true
  /** Bytes since the last whole frame, give or take a chunk. */
  let arrived = { bytes: 0, share: bodies.share(facts.apiKeyId) }
  /** Reason for the end of the socket, set when it shall close as soon as nothing runs. */
  let ending: { readonly view: ErrorView; readonly code: number; readonly told: boolean } | null = null

  const writer = makeSocketWriter(
    socket,
    () => {
      for (const reply of running.values()) reply.drained()
    },
    () => {
      alive = true
    }
  )

  const membersOf = (lane: string | null): JsonObject => optional("stream_id", lane)

  const tell = (lane: string | null, view: ErrorView, requestId = facts.id): void => {
    const headers = optional("retry-after", retryAfterOf(view))
    writer.send(withMembers(JSON.stringify(errorFrame(view, requestId, headers)), membersOf(lane)))
  }

  const endWhenIdle = (): void => {
    if (ending === null || !lanes.isIdle()) return
    if (ending.told) tell(null, ending.view)
    socket.close(ending.code)
  }

  const startWarmUp = ({ body, lane }: Create, expanded: JsonObject): void => {
    const nowMs = services.nowMs()
    const id = services.nextId(nowMs)
    // Input is not asked of a request that wants no answer.
    const checked = codecs.responses.checkEnvelope({ ...expanded, input: expanded["input"] ?? [] })
    if (Either.isLeft(checked)) return tell(lane, describe(checked.left), id)
    const { events, responseId } = warmUp(body, checked.right.model, id, nowMs)
    history.remember(facts.id, responseId, { request: expanded, output: [] })
    for (const event of events) writer.send(withMembers(JSON.stringify(event), membersOf(lane)))
  }

  const startRun = (job: Job, expanded: JsonObject, principal: Principal, done: () => void): void => {
    const { body, bytes, lane, share } = job
    const receivedMs = services.nowMs()
    const requestId = services.nextId(receivedMs)
    const over = services.began()
    const reply = new SocketReply({
      requestId,
      members: membersOf(lane),
      previousResponseId: stringOr(body["previous_response_id"]),
      send: writer.send,
      ended: (answered) => {
        running.delete(lane)
        if (answered !== null) {
          history.remember(facts.id, answered.responseId, { request: expanded, output: answered.output })
        }
        over()
        done()
        endWhenIdle()
      }
    })
    running.set(lane, reply)
    const serve = (whole: Buffer): void => {
      const exchange = exchangeOf(whole)
      // The frame itself was within the limit; the conversation it goes on may not be.
      const { length } = whole
      if (length > services.maxBodyBytes) {
        services.refuse(exchange, new BodyTooLarge({ limitBytes: services.maxBodyBytes }))
      } else if (share.take(Math.max(0, length - bytes))) services.serve(exchange)
      else services.refuse(exchange, bodies.refusal())
    }
    const exchangeOf = (whole: Buffer): Exchange => ({
      requestId,
      receivedMs,
      startedMs: services.monotonicMs(),
      wire: "responses",
      codec: codecs.responses,
      method: "POST",
      path: facts.path,
      body: whole,
      fromPath: null,
      atOnce: null,
      headers: facts.headers,
      principal,
      madeFor: "client",
      reply
    })
    if (bytes < slicedFromBytes) serve(Buffer.from(JSON.stringify(expanded)))
    else services.slices.whenWritten(expanded, serve)
  }

  const start = (frame: Job, next: () => void): void => {
    const done = (): void => {
      frame.share.release()
      next()
    }
    const principal = services.judge(services.nowMs())
    if (!("_tag" in principal)) {
      tell(frame.lane, principal)
      return done()
    }
    const told = history.referred(facts.id, frame.body)
    const expanded = history.expand(facts.id, told)
    // An id this socket has not seen may be known further down.
    const body = expanded === "unknown" ? told : expanded
    if (frame.generate) return startRun(frame, body, principal, done)
    startWarmUp(frame, body)
    done()
  }

  const lanes = makeLanes<Job>({ maxLanes, maxQueued, maxQueuedBytes: services.maxBodyBytes }, start)

  const create = (frame: Create, bytes: number): void => {
    if (ending !== null) return tell(frame.lane, ending.view)
    const share = bodies.share(facts.apiKeyId)
    if (!share.take(bytes)) return tell(frame.lane, describe(bodies.refusal()))
    const taken = lanes.submit(frame.lane, { ...frame, bytes, share }, bytes)
    if (taken === "taken") return
    share.release()
    tell(frame.lane, taken === "queue_full" ? queueFull : tooManyLanes)
  }

  const dropQueued = (): ReadonlyArray<Job> => {
    const jobs = lanes.takeQueued()
    for (const { share } of jobs) share.release()
    return jobs
  }

  const arriving = (bytes: number): boolean => {
    // Frames of the protocol come in between and are not kept; a frame is never longer than the limit.
    if (arrived.bytes + bytes > services.maxBodyBytes) return true
    arrived.bytes += bytes
    if (arrived.share.take(bytes)) return true
    tell(null, describe(bodies.refusal()))
    socket.close(closeCodes.tryAgainLater)
    return false
  }

  const cancel = (lane: string | null): void => {
    const reply = running.get(lane)
    tell(lane, reply === undefined ? notRunning : cancelled)
    reply?.leave()
  }

  const end = (view: ErrorView, code: number, told: boolean): void => {
    ending ??= { view, code, told }
    for (const { lane } of dropQueued()) tell(lane, ending.view)
    endWhenIdle()
  }

  /** Frames that came while a large one is read. */
  const held: Array<readonly [data: RawData, isBinary: boolean]> = []
  let isReading = false

  socket.on("message", (data: RawData, isBinary: boolean) => {
    alive = true
    if (isReading) held.push([data, isBinary])
    else take(data, isBinary)
  })

  /** A frame whose JSON is read, or soon read. */
  const handle = (body: Buffer): void => {
    const frame = readClientFrame(body)
    if (frame._tag === "Create") create(frame, body.length)
    else if (frame._tag === "Cancel") cancel(frame.lane)
    else tell(frame.lane, transportError(400, null, frame.message, frame.param))
  }

  const take = (data: RawData, isBinary: boolean): void => {
    const { share } = arrived
    arrived = { bytes: 0, share: bodies.share(facts.apiKeyId) }
    if (isBinary || byteLength(data) < slicedFromBytes) share.release()
    // Frames may come in between our goodbye and the client's.
    if (socket.readyState !== socket.OPEN) return share.release()
    if (isBinary) {
      tell(null, noBinary)
      return socket.close(closeCodes.unsupportedData)
    }
    const body = bytesOf(data)
    if (body.length < slicedFromBytes) return handle(body)
    isReading = true
    socket.pause()
    services.slices.whenRead(
      body,
      () => {
        isReading = false
        share.release()
        if (socket.readyState === socket.OPEN) handle(body)
        for (let next = held.shift(); next !== undefined; next = isReading ? undefined : held.shift()) take(...next)
        if (!isReading) socket.resume()
      },
      maxTopMembers
    )
  }
  socket.on("pong", () => {
    alive = true
  })
  socket.on("error", () => {
    // The socket closes by itself; `close` follows.
  })
  socket.on("close", () => {
    arrived.share.release()
    dropQueued()
    for (const reply of running.values()) reply.leave()
    history.forget(facts.id)
  })

  return {
    arriving,
    tick: (nowMs) => {
      if (!alive) return socket.terminate()
      alive = false
      socket.ping()
      if (nowMs - facts.openedMs >= maxLifetimeMs) end(limitReached, closeCodes.normal, true)
    },
    drain: () => end(shuttingDown, closeCodes.goingAway, false),
    cut: () => socket.terminate()
  }
}
