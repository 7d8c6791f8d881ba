/**
 * Responses over WebSocket: upgrades on the paths of the responses route, one run of the ordinary pipeline
 * per `response.create`. Every upstream is served, whatever its own transport: frames are made from its HTTP stream.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer } from "ws"
import * as Gate from "../../subjects/auth/Gate.ts"
import { peerAddressOf, peerOf } from "../../subjects/auth/PeerAddress.ts"
import * as Flags from "../../subjects/flags/service.ts"
import { Overloaded } from "../../contract/domain/Errors.ts"
import { apiKeyIdOf, type Exchange } from "../../plane/request/Exchange.ts"
import { makeFairPlaces } from "../../kernel/collections/FairPlaces.ts"
import * as BodyBudget from "../../plane/resilience/BodyBudget.ts"
import * as LoadShedder from "../../plane/resilience/LoadShedder.ts"
import * as Pipeline from "../../plane/Pipeline.ts"
import { tappedWhereOn, TrafficTap } from "../../plane/tap/TrafficTap.ts"
import { makeResponseHistory } from "../../plane/state/kept/ResponseHistory.ts"
import * as AppConfig from "../../platform/AppConfig.ts"
import * as IdGen from "../../platform/IdGen.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import * as Timers from "../../platform/Timers.ts"
import { Tunnels } from "../../net/tunnels/Tunnels.ts"
import * as OpenStreams from "../listening/OpenStreams.ts"
import { openSession, type Session, type SessionServices } from "./Session.ts"
import { acceptUpgrade, full, judgeUpgrade, lastingHeaders, principalOf, refuseUpgrade } from "./Upgrade.ts"
import { LongLived } from "../listening/LongLived.ts"

/** Called when a response begins; the returned function is called when it has ended. */
export type Began = () => () => void

export class ResponsesSocket extends Context.Tag("gateway/entry/ws/ResponsesSocket")<
  ResponsesSocket,
  {
    /** Answers an upgrade with a socket, or with an HTTP error. */
    readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, began: Began) => void
  }
>() {}

/** Most sockets of all callers together; a caller takes at most as many as it leaves free. */
const maxSockets = 1_024
/** A client that gives no sign of life for two of these is gone. */
const pingEveryMs = 30_000

/** The sockets that are open, and the clock that watches over them while there are some. */
class OpenSessions {
  readonly #timers: typeof Timers.Timers.Service
  readonly #none: Effect.Latch
  readonly #sessions = new Set<Session>()
  #watch: Timers.Timer | null = null
  #isDraining = false

  constructor(timers: typeof Timers.Timers.Service, none: Effect.Latch) {
    this.#timers = timers
    this.#none = none
  }

  isFull(): boolean {
    return this.#isDraining || this.#sessions.size >= maxSockets
  }

  add(session: Session): void {
    this.#sessions.add(session)
    this.#none.unsafeClose()
    if (this.#watch === null) this.#tickSoon()
  }

  remove(session: Session): void {
    this.#sessions.delete(session)
    if (this.#sessions.size > 0) return
    this.stopWatching()
    this.#none.unsafeOpen()
  }

  stopWatching(): void {
    this.#watch?.cancel()
    this.#watch = null
  }

  drain(): void {
    this.#isDraining = true
    for (const session of this.#sessions) session.drain()
  }

  cut(): void {
    for (const session of this.#sessions) session.cut()
  }

  #tickSoon(): void {
    this.#watch = this.#timers.after(pingEveryMs, () => this.#tick())
  }

  #tick(): void {
    const nowMs = this.#timers.nowMs()
    for (const session of this.#sessions) session.tick(nowMs)
    this.#tickSoon()
  }
}

/** Refuses bytes that there is no room for, before frames are made of them: what is not a whole frame yet is in memory too. */
const countArriving = (socket: Duplex, session: Session): void => {
  const count = (chunk: Buffer): void => {
    if (session.arriving(chunk.length)) return
    socket.off("data", count)
    socket.end(() => socket.destroy())
  }
  socket.prependListener("data", count)
}

/** Makes the services that all sessions share. */
const makeServices = Effect.gen(function* () {
  const { maxBodyBytes } = yield* AppConfig.AppConfig
  const ids = yield* IdGen.IdGen
  const { monotonicMs, nowMs } = yield* Timers.Timers
  const pipeline = yield* Pipeline.Pipeline
  const tap = yield* TrafficTap
  const shedder = yield* LoadShedder.LoadShedder
  const bodies = yield* BodyBudget.BodyBudget
  const slices = yield* Slices
  const history = makeResponseHistory()

  const tapped = (exchange: Exchange): Exchange => tappedWhereOn(tap, exchange, "ws")

  /** Each turn counts as a request of its own. */
  const serve = (asked: Exchange): void => {
    const exchange = tapped(asked)
    const entered = shedder.enter(apiKeyIdOf(exchange))
    if (LoadShedder.isShed(entered)) pipeline.refuse(exchange, new Overloaded(entered))
    else pipeline.serve(exchange, entered)
  }

  const services: Omit<SessionServices, "began" | "judge"> = {
    nowMs,
    monotonicMs,
    nextId: ids.next,
    serve,
    refuse: (exchange, error) => pipeline.refuse(tapped(exchange), error),
    bodies,
    slices,
    history,
    maxBodyBytes
  }
  return services
})

export const make = Effect.gen(function* () {
  const longLived = yield* LongLived
  const gate = yield* Gate.Gate
  const flags = yield* Flags.Flags
  const streams = yield* OpenStreams.OpenStreams
  const tunnels = yield* Tunnels
  const services = yield* makeServices
  const none = yield* Effect.makeLatch(true)
  const sessions = new OpenSessions(yield* Timers.Timers, none)
  const places = makeFairPlaces(() => maxSockets)
  yield* Effect.addFinalizer(() => Effect.sync(() => sessions.stopWatching()))

  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Compression would cost memory per socket and time per frame, and no client needs it.
    perMessageDeflate: false,
    maxPayload: services.maxBodyBytes
  })

  const counted = (began: Began) => () => {
    const over = began()
    streams.opened()
    return () => {
      streams.closed()
      over()
    }
  }

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer, began: Began): void => {
    const openedMs = services.nowMs()
    const id = services.nextId(openedMs)
    const facts = {
      method: request.method ?? "GET",
      url: request.url ?? "/",
      headers: request.headers,
      socketAddress: peerAddressOf(request.socket),
      category: "chat" as const,
      // No page can send the session's token with an upgrade.
      takesSession: false
    }
    const peer = peerOf(request.socket, tunnels)
    // Keys may cease to be required while the socket is open.
    const access = (nowMs: number) => gate.admit(request.headers, peer) ?? gate.judge("inference", facts, nowMs)
    const verdict = judgeUpgrade({
      ...facts,
      enabled: flags.isOn("GATEWAY_UPSTREAM_WS_ENABLED"),
      full: sessions.isFull(),
      access: () => access(openedMs)
    })
    if ("status" in verdict) return refuseUpgrade(socket, verdict, id)
    const leave = places.enter(apiKeyIdOf(verdict) ?? "")
    if (leave === null) return refuseUpgrade(socket, full, id)
    // Also where it does not become a socket after all.
    socket.once("close", leave)
    acceptUpgrade(server, { request, socket, head }, id, (opened) => {
      const session = openSession(
        opened,
        { id, path: verdict.path, headers: lastingHeaders(request.headers), openedMs, apiKeyId: apiKeyIdOf(verdict) },
        { ...services, judge: (nowMs) => principalOf(access(nowMs)), began: counted(began) }
      )
      sessions.add(session)
      countArriving(socket, session)
      opened.on("close", () => sessions.remove(session))
    })
  }

  longLived.register({ drain: () => sessions.drain(), cut: () => sessions.cut(), closed: none.await })

  return ResponsesSocket.of({ upgrade })
})

export const layer: Layer.Layer<
  ResponsesSocket,
  never,
  | AppConfig.AppConfig
  | Gate.Gate
  | Flags.Flags
  | IdGen.IdGen
  | LongLived
  | Slices
  | Timers.Timers
  | OpenStreams.OpenStreams
  | Pipeline.Pipeline
  | TrafficTap
  | LoadShedder.LoadShedder
  | BodyBudget.BodyBudget
  | Tunnels
> = Layer.scoped(ResponsesSocket, make)
