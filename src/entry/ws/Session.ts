/**
 * One socket: reads the client's frames, runs each request through the ordinary pipeline, and ends when it must. The conversation
 * so far is kept under the ids of its responses for as long as the socket is open.
 */
import * as Either from "effect/Either"
import type { RawData, WebSocket } from "ws"
import type { RequestHeaders } from "../../subjects/auth/Credentials.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
import { BodyTooLarge, type BufferFull, describe, type ErrorView } from "../../contract/domain/Errors.ts"
import type { Exchange } from "../../plane/request/Exchange.ts"
import { retryAfterOf } from "../../plane/request/Headers.ts"
import type { ResponseHistory } from "../../plane/state/kept/ResponseHistory.ts"
import type { BodyBudget, BodyShare } from "../../plane/resilience/BodyBudget.ts"
import { codecs } from "../../wire/Codec.ts"
import { type JsonObject, optional, stringOr } from "../../wire/json/Json.ts"
import type { Slices } from "../../plane/resilience/Slices.ts"
import { maxTopMembers } from "../../wire/json/Excess.ts"
import { slicedFromBytes } from "../../wire/json/LargeBodies.ts"
import { type ClientFrame, readClientFrame } from "./ClientFrames.ts"
import { makeLanes, type Lanes } from "./Lanes.ts"
import { errorFrame, transportError, withMembers } from "./ServerFrames.ts"
import { SocketReply } from "./SocketReply.ts"
import { makeSocketWriter, type SocketWriter } from "./SocketWriter.ts"
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
class SocketSession implements Session {
  readonly #socket: SessionSocket
  readonly #facts: SessionFacts
  readonly #services: SessionServices
  readonly #bodies: SessionServices["bodies"]
  readonly #history: SessionServices["history"]
  readonly #running = new Map<string | null, SocketReply>()
  #alive = true
  /** Bytes since the last whole frame, give or take a chunk. */
  #arrived: { bytes: number; share: BodyShare }
  /** Reason for the end of the socket, set when it shall close as soon as nothing runs. */
  #ending: { readonly view: ErrorView; readonly code: number; readonly told: boolean } | null = null
  readonly #writer: SocketWriter
  readonly #lanes: Lanes<Job>
  /** Frames that came while a large one is read. */
  readonly #held: Array<readonly [data: RawData, isBinary: boolean]> = []
  #isReading = false

  constructor(socket: SessionSocket, facts: SessionFacts, services: SessionServices) {
    this.#socket = socket
    this.#facts = facts
    this.#services = services
    const { bodies, history } = this.#services
    this.#bodies = bodies
    this.#history = history
    this.#arrived = { bytes: 0, share: this.#bodies.share(this.#facts.apiKeyId) }
    this.#writer = makeSocketWriter(
      this.#socket,
      () => {
        for (const reply of this.#running.values()) reply.drained()
      },
      () => {
        this.#alive = true
      }
    )
    this.#lanes = makeLanes<Job>({ maxLanes, maxQueued, maxQueuedBytes: this.#services.maxBodyBytes }, this.#start)
    this.#socket.on("message", (data: RawData, isBinary: boolean) => {
      this.#alive = true
      if (this.#isReading) this.#held.push([data, isBinary])
      else this.#take(data, isBinary)
    })
    this.#socket.on("pong", () => {
      this.#alive = true
    })
    this.#socket.on("error", () => {
      // The socket closes by itself; `close` follows.
    })
    this.#socket.on("close", () => {
      this.#arrived.share.release()
      this.#dropQueued()
      for (const reply of this.#running.values()) reply.leave()
      this.#history.forget(this.#facts.id)
    })
  }

  readonly tick: Session["tick"] = (nowMs) => {
    if (!this.#alive) return this.#socket.terminate()
    this.#alive = false
    this.#socket.ping()
    if (nowMs - this.#facts.openedMs >= maxLifetimeMs) this.#end(limitReached, closeCodes.normal, true)
  }

  readonly drain: Session["drain"] = () => this.#end(shuttingDown, closeCodes.goingAway, false)

  readonly cut: Session["cut"] = () => this.#socket.terminate()

  #membersOf(lane: string | null): JsonObject {
    return optional("stream_id", lane)
  }

  #tell(lane: string | null, view: ErrorView, requestId = this.#facts.id): void {
    const headers = optional("retry-after", retryAfterOf(view))
    this.#writer.send(withMembers(JSON.stringify(errorFrame(view, requestId, headers)), this.#membersOf(lane)))
  }

  #endWhenIdle(): void {
    if (this.#ending === null || !this.#lanes.isIdle()) return
    if (this.#ending.told) this.#tell(null, this.#ending.view)
    this.#socket.close(this.#ending.code)
  }

  #startWarmUp({ body, lane }: Create, expanded: JsonObject): void {
    const nowMs = this.#services.nowMs()
    const id = this.#services.nextId(nowMs)
    // Input is not asked of a request that wants no answer.
    const checked = codecs.responses.checkEnvelope({ ...expanded, input: expanded["input"] ?? [] })
    if (Either.isLeft(checked)) return this.#tell(lane, describe(checked.left), id)
    const { events, responseId } = warmUp(body, checked.right.model, id, nowMs)
    this.#history.remember(this.#facts.id, responseId, { request: expanded, output: [] })
    for (const event of events) this.#writer.send(withMembers(JSON.stringify(event), this.#membersOf(lane)))
  }

  #startRun(job: Job, expanded: JsonObject, principal: Principal, done: () => void): void {
    const { body, bytes, lane, share } = job
    const receivedMs = this.#services.nowMs()
    const requestId = this.#services.nextId(receivedMs)
    const over = this.#services.began()
    const reply = new SocketReply({
      requestId,
      members: this.#membersOf(lane),
      previousResponseId: stringOr(body["previous_response_id"]),
      send: this.#writer.send,
      ended: (answered) => {
        this.#running.delete(lane)
        if (answered !== null) {
          this.#history.remember(this.#facts.id, answered.responseId, { request: expanded, output: answered.output })
        }
        over()
        done()
        this.#endWhenIdle()
      }
    })
    this.#running.set(lane, reply)
    const serve = (whole: Buffer): void => {
      const exchange = exchangeOf(whole)
      // The frame itself was within the limit; the conversation it goes on may not be.
      const { length } = whole
      if (length > this.#services.maxBodyBytes) {
        this.#services.refuse(exchange, new BodyTooLarge({ limitBytes: this.#services.maxBodyBytes }))
      } else if (share.take(Math.max(0, length - bytes))) this.#services.serve(exchange)
      else this.#services.refuse(exchange, this.#bodies.refusal())
    }
    const exchangeOf = (whole: Buffer): Exchange => ({
      requestId,
      receivedMs,
      startedMs: this.#services.monotonicMs(),
      wire: "responses",
      codec: codecs.responses,
      method: "POST",
      path: this.#facts.path,
      body: whole,
      fromPath: null,
      atOnce: null,
      headers: this.#facts.headers,
      principal,
      madeFor: "client",
      reply
    })
    if (bytes < slicedFromBytes) serve(Buffer.from(JSON.stringify(expanded)))
    else this.#services.slices.whenWritten(expanded, serve)
  }

  readonly #start = (frame: Job, next: () => void): void => {
    const done = (): void => {
      frame.share.release()
      next()
    }
    const principal = this.#services.judge(this.#services.nowMs())
    if (!("_tag" in principal)) {
      this.#tell(frame.lane, principal)
      return done()
    }
    const told = this.#history.referred(this.#facts.id, frame.body)
    const expanded = this.#history.expand(this.#facts.id, told)
    // An id this socket has not seen may be known further down.
    const body = expanded === "unknown" ? told : expanded
    if (frame.generate) return this.#startRun(frame, body, principal, done)
    this.#startWarmUp(frame, body)
    done()
  }

  #create(frame: Create, bytes: number): void {
    if (this.#ending !== null) return this.#tell(frame.lane, this.#ending.view)
    const share = this.#bodies.share(this.#facts.apiKeyId)
    if (!share.take(bytes)) return this.#tell(frame.lane, describe(this.#bodies.refusal()))
    const taken = this.#lanes.submit(frame.lane, { ...frame, bytes, share }, bytes)
    if (taken === "taken") return
    share.release()
    this.#tell(frame.lane, taken === "queue_full" ? queueFull : tooManyLanes)
  }

  #dropQueued(): ReadonlyArray<Job> {
    const jobs = this.#lanes.takeQueued()
    for (const { share } of jobs) share.release()
    return jobs
  }

  readonly arriving = (bytes: number): boolean => {
    // Frames of the protocol come in between and are not kept; a frame is never longer than the limit.
    if (this.#arrived.bytes + bytes > this.#services.maxBodyBytes) return true
    this.#arrived.bytes += bytes
    if (this.#arrived.share.take(bytes)) return true
    this.#tell(null, describe(this.#bodies.refusal()))
    this.#socket.close(closeCodes.tryAgainLater)
    return false
  }

  #cancel(lane: string | null): void {
    const reply = this.#running.get(lane)
    this.#tell(lane, reply === undefined ? notRunning : cancelled)
    reply?.leave()
  }

  #end(view: ErrorView, code: number, told: boolean): void {
    this.#ending ??= { view, code, told }
    for (const { lane } of this.#dropQueued()) this.#tell(lane, this.#ending.view)
    this.#endWhenIdle()
  }

  /** A frame whose JSON is read, or soon read. */
  #handle(body: Buffer): void {
    const frame = readClientFrame(body)
    if (frame._tag === "Create") this.#create(frame, body.length)
    else if (frame._tag === "Cancel") this.#cancel(frame.lane)
    else this.#tell(frame.lane, transportError(400, null, frame.message, frame.param))
  }

  #take(data: RawData, isBinary: boolean): void {
    const { share } = this.#arrived
    this.#arrived = { bytes: 0, share: this.#bodies.share(this.#facts.apiKeyId) }
    if (isBinary || byteLength(data) < slicedFromBytes) share.release()
    // Frames may come in between our goodbye and the client's.
    if (this.#socket.readyState !== this.#socket.OPEN) return share.release()
    if (isBinary) {
      this.#tell(null, noBinary)
      return this.#socket.close(closeCodes.unsupportedData)
    }
    const body = bytesOf(data)
    if (body.length < slicedFromBytes) return this.#handle(body)
    this.#isReading = true
    this.#socket.pause()
    this.#services.slices.whenRead(
      body,
      () => {
        this.#isReading = false
        share.release()
        if (this.#socket.readyState === this.#socket.OPEN) this.#handle(body)
        for (let next = this.#held.shift(); next !== undefined; next = this.#isReading ? undefined : this.#held.shift())
          this.#take(...next)
        if (!this.#isReading) this.#socket.resume()
      },
      maxTopMembers
    )
  }
}

export const openSession = (socket: SessionSocket, facts: SessionFacts, services: SessionServices): Session =>
  new SocketSession(socket, facts, services)
