/**
 * The feed of the traffic inspector: changes in the list of records, sent over WebSockets to programs of this machine that may manage the
 * gateway (docs/inspector.md). The inspector makes the messages; here are access, pings, and the end.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { type WebSocket, WebSocketServer } from "ws"
import { match, routeAt } from "../../contract/Routes.ts"
import { notLocal } from "../../subjects/auth/Access.ts"
import { isCrossSite } from "../../subjects/auth/Csrf.ts"
import * as Gate from "../../subjects/auth/Gate.ts"
import { isLoopback } from "../../subjects/auth/Loopback.ts"
import { peerAddressOf } from "../../subjects/auth/PeerAddress.ts"
import type { ErrorView } from "../../contract/domain/Errors.ts"
import { LazyInspector } from "../../observe/inspector/LazyInspector.ts"
import * as IdGen from "../../platform/IdGen.ts"
import * as Timers from "../../platform/Timers.ts"
import { transportError } from "../ws/ServerFrames.ts"
import { acceptUpgrade, refuseUpgrade } from "../ws/Upgrade.ts"
import { LongLived } from "../listening/LongLived.ts"

export class InspectorFeed extends Context.Tag("gateway/entry/live/InspectorFeed")<
  InspectorFeed,
  {
    /** Checks whether the path of a request is the feed's. */
    readonly isAt: (request: IncomingMessage) => boolean
    /** Answers an upgrade with a socket, or with an HTTP error. */
    readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer) => void
    readonly clients: () => number
  }
>() {}

export const path = "/api/tools/traffic-inspector/ws"
export const maxClients = 64
/** Clients have nothing to say. */
const maxFrameBytes = 4_096
/** Time in ms within which a client is closed whose session ended; a client that misses two pings is gone. */
const turnMs = 5_000
const pingEveryTurns = 6

const closeCodes = { goingAway: 1001, policyViolation: 1008, internalError: 1011 }

const wrongMethod = transportError(405, null, "A WebSocket is opened with GET.")
const full = transportError(
  503,
  null,
  `At most ${maxClients} clients may watch at once. Close one, or try again later.`
)
const stopping = transportError(503, null, "The gateway is stopping.")
const foreign = transportError(403, "cross_site_request", "A page of another site may not watch captured traffic.")

interface Client {
  readonly socket: WebSocket
  /** Checks whether it may still watch: its session may have ended, its key may be revoked. */
  readonly mayStay: () => boolean
  isAlive: boolean
}

/** The clients that watch, and the clock that looks after them while there are some. */
class Clients {
  readonly #timers: typeof Timers.Timers.Service
  readonly #clients = new Set<Client>()
  #timer: Timers.Timer | null = null
  #turns = 0

  constructor(timers: typeof Timers.Timers.Service) {
    this.#timers = timers
  }

  get size(): number {
    return this.#clients.size
  }

  has(client: Client): boolean {
    return this.#clients.has(client)
  }

  add(client: Client): void {
    const { socket } = client
    if (this.#clients.size === 0) this.#turnSoon()
    this.#clients.add(client)
    socket.on("close", () => {
      this.#clients.delete(client)
      if (this.#clients.size === 0) this.stopTurns()
    })
    const lives = (): void => {
      client.isAlive = true
    }
    socket.on("message", lives)
    socket.on("pong", lives)
    socket.on("error", () => {
      // The socket closes by itself; `close` follows.
    })
  }

  stopTurns(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#turns = 0
  }

  closeAll(code: number, reason: string): void {
    for (const { socket } of this.#clients) socket.close(code, reason)
  }

  cut(): void {
    for (const { socket } of this.#clients) socket.terminate()
  }

  #turnSoon(): void {
    this.#timer = this.#timers.after(turnMs, () => this.#turn())
  }

  #turn(): void {
    this.#turnSoon()
    this.#turns += 1
    for (const client of this.#clients) {
      const { mayStay, socket } = client
      if (!mayStay()) socket.close(closeCodes.policyViolation, "The session or key is no longer valid.")
      else if (this.#turns % pingEveryTurns === 0) {
        if (!client.isAlive) socket.terminate()
        client.isAlive = false
        socket.ping()
      }
    }
  }
}

/** Judges who may watch. */
const makeAccess = Effect.gen(function* () {
  const gate = yield* Gate.Gate
  const timers = yield* Timers.Timers

  const judge = ({ headers, socket }: IncomingMessage, isLook: boolean) =>
    gate.judge(
      "loopback",
      {
        method: "GET",
        url: path,
        headers,
        socketAddress: peerAddressOf(socket),
        category: null,
        takesSession: false,
        isLook
      },
      timers.nowMs()
    )

  const isForeign = ({ headers }: IncomingMessage): boolean =>
    (isCrossSite(headers) || gate.foreignOrigin(headers) !== null) && gate.namedOrigin(headers) === null

  const refusal = (request: IncomingMessage): ErrorView | null => {
    // Callers from elsewhere get no other information.
    if (!isLoopback(peerAddressOf(request.socket), request.headers)) {
      return transportError(notLocal.status, notLocal.code, notLocal.message)
    }
    if (request.method !== "GET") return wrongMethod
    const access = judge(request, false)
    if (access._tag === "Denied") return transportError(access.status, access.code, access.message)
    // Browsers let any page open a socket, and ask no server before.
    return isForeign(request) ? foreign : null
  }

  return { refusal, mayWatch: (request: IncomingMessage): boolean => judge(request, true)._tag === "Allowed" }
})

export const make = Effect.gen(function* () {
  const longLived = yield* LongLived
  const lazyInspector = yield* LazyInspector
  const ids = yield* IdGen.IdGen
  const timers = yield* Timers.Timers
  const access = yield* makeAccess
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  const clients = new Clients(timers)
  let isStopping = false
  yield* Effect.addFinalizer(() => Effect.sync(() => clients.stopTurns()))

  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxFrameBytes
  })

  /** Frames for a closed socket are let go. */
  const watch = (client: Client): Effect.Effect<void> =>
    Effect.map(lazyInspector.get, ({ inspector }) => {
      const { socket } = client
      if (!clients.has(client)) return
      const stop = inspector.subscribe({
        write: (frame) => {
          if (socket.readyState === socket.OPEN) socket.send(frame)
        },
        bufferedBytes: () => socket.bufferedAmount
      })
      socket.on("close", stop)
    }).pipe(
      Effect.catchAllCause((cause) => {
        client.socket.close(closeCodes.internalError, "The inspector could not be loaded.")
        return Effect.logError("The traffic inspector could not be loaded", cause)
      })
    )

  const refusal = (request: IncomingMessage): ErrorView | null => {
    const refused = access.refusal(request)
    if (refused !== null) return refused
    if (isStopping) return stopping
    return clients.size >= maxClients ? full : null
  }

  longLived.register({
    drain: () => {
      isStopping = true
      clients.closeAll(closeCodes.goingAway, "The gateway is stopping.")
    },
    cut: () => clients.cut()
  })

  return InspectorFeed.of({
    isAt: ({ method = "GET", url = "/" }) => routeAt(match(method, url))?.key === "inspector.feed",
    upgrade: (request, socket, head) => {
      const id = ids.next(timers.nowMs())
      const refused = refusal(request)
      if (refused !== null) return refuseUpgrade(socket, refused, id)
      acceptUpgrade(server, { request, socket, head }, id, (opened) => {
        const client: Client = { socket: opened, mayStay: () => access.mayWatch(request), isAlive: true }
        clients.add(client)
        runFork(watch(client))
      })
    },
    clients: () => clients.size
  })
})

export const layer: Layer.Layer<
  InspectorFeed,
  never,
  LazyInspector | Gate.Gate | IdGen.IdGen | LongLived | Timers.Timers
> = Layer.scoped(InspectorFeed, make)
