/**
 * The live feed: events of the gateway, sent over WebSockets to people who manage it (docs/live-feed.md). Without listeners no message is
 * made of any event.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type { IncomingMessage } from "node:http"
import type { Duplex } from "node:stream"
import { WebSocketServer } from "ws"
import { match, routeAt } from "../../contract/Routes.ts"
import type { RequestHeaders } from "../../subjects/auth/Credentials.ts"
import { isCrossSite } from "../../subjects/auth/Csrf.ts"
import * as Gate from "../../subjects/auth/Gate.ts"
import { peerAddressOf } from "../../subjects/auth/PeerAddress.ts"
import type { ErrorView } from "../../domain/Errors.ts"
import * as Events from "../../observe/Events.ts"
import { identityHeaders } from "../../plane/request/Headers.ts"
import * as IdGen from "../../platform/IdGen.ts"
import * as Timers from "../../platform/Timers.ts"
import { version } from "../../platform/Version.ts"
import { transportError } from "../ws/ServerFrames.ts"
import { refuseUpgrade } from "../ws/Upgrade.ts"
import { channels, eventFrame, type LiveEvent, ofEvent, ofRequest } from "./Channels.ts"
import { type LiveClient, makeLiveClient } from "./LiveClient.ts"
import { makeSampler } from "./Sampler.ts"
import { LongLived } from "../listening/LongLived.ts"

export class LiveFeed extends Context.Tag("gateway/entry/live/LiveFeed")<
  LiveFeed,
  {
    /** Checks whether the path of a request is the feed's. */
    readonly isAt: (request: IncomingMessage) => boolean
    /** Answers an upgrade with a socket, or with an HTTP error. `headers`: those of the request, as access is to be judged by them. */
    readonly upgrade: (request: IncomingMessage, socket: Duplex, head: Buffer, headers?: RequestHeaders) => void
    readonly clients: () => number
    /** The port of its own that it listens on too; null when there is none. */
    readonly ownPort: () => number | null
    readonly listensAt: (port: number | null) => void
  }
>() {}

export const path = "/api/live"
export const maxClients = 64
/** Clients send short frames only. */
const maxFrameBytes = 4_096
/** A second of the sampler, and how soon a client is closed whose session ended. */
const turnMs = 1_000
/** A client that gives no sign of life for two of these is gone. */
const pingEveryTurns = 15

const closeCodes = { goingAway: 1001, policyViolation: 1008 }

const wrongMethod = transportError(405, null, "A WebSocket is opened with GET.")
const full = transportError(
  503,
  null,
  `At most ${maxClients} clients may listen at once. Close one, or try again later.`
)
const stopping = transportError(503, null, "The gateway is stopping.")
const foreign = transportError(
  403,
  "cross_site_request",
  "A page of another site may not listen with the session's cookie. Name its origin in CORS_ORIGINS or corsOrigins."
)

interface Listener {
  readonly client: LiveClient
  /** Checks whether it may still listen: its session may have ended, its key may be revoked. */
  readonly mayStay: () => boolean
}

export const make = Effect.gen(function* () {
  const longLived = yield* LongLived
  const events = yield* Events.Events
  const gate = yield* Gate.Gate
  const ids = yield* IdGen.IdGen
  const timers = yield* Timers.Timers

  const listeners = new Set<Listener>()
  let isStopping = false
  let ownPort: number | null = null
  let stopListening: ReadonlyArray<() => void> = []
  let timer: Timers.Timer | null = null
  let turns = 0
  const sampler = makeSampler()

  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxFrameBytes
  })

  const send = (event: LiveEvent, sampled?: number): void => {
    let frame: string | null = null
    for (const { client } of listeners) {
      if (client.wants(event.channel)) client.send((frame ??= eventFrame(event, sampled)))
    }
  }

  const tell = (event: LiveEvent): void => {
    if (sampler.admit(event)) send(event)
  }

  const turn = (): void => {
    timer = timers.after(turnMs, turn)
    turns += 1
    for (const { event, sampled } of sampler.turn()) send(event, sampled)
    for (const { client, mayStay } of listeners) {
      if (!mayStay()) client.close(closeCodes.policyViolation, "The session or key is no longer valid.")
      else if (turns % pingEveryTurns === 0) client.ping()
    }
  }

  const begin = (): void => {
    events.wantAttention(true)
    stopListening = [
      events.listen((event) => tell(ofEvent(event))),
      events.listenToRequests((row) => tell(ofRequest(row)))
    ]
    timer = timers.after(turnMs, turn)
  }

  const end = (): void => {
    events.wantAttention(false)
    for (const stop of stopListening) stop()
    stopListening = []
    timer?.cancel()
    timer = null
    sampler.turn()
  }
  yield* Effect.addFinalizer(() => Effect.sync(end))

  const refusal = (request: IncomingMessage, headers: RequestHeaders): ErrorView | null => {
    if (request.method !== "GET") return wrongMethod
    if (isStopping) return stopping
    if (listeners.size >= maxClients) return full
    const access = judge(request, headers)
    if (access._tag === "Denied") return transportError(access.status, access.code, access.message)
    // Browsers send the cookie along with the upgrade of any page, and ask no server before.
    const isForeign = access.principal._tag === "Session" && isCrossSite(headers) && gate.namedOrigin(headers) === null
    return isForeign ? foreign : null
  }

  const judge = (request: IncomingMessage, headers: RequestHeaders) =>
    gate.judge(
      "manage",
      { method: "GET", url: path, headers, socketAddress: peerAddressOf(request.socket), category: null },
      timers.nowMs()
    )

  const upgrade: typeof LiveFeed.Service.upgrade = (request, socket, head, headers = request.headers) => {
    const id = ids.next(timers.nowMs())
    const refused = refusal(request, headers)
    if (refused !== null) return refuseUpgrade(socket, refused, id)
    const onHeaders = (sent: Array<string>): void => {
      const identity = identityHeaders(id)
      for (let at = 0; at + 1 < identity.length; at += 2) sent.push(`${identity[at] ?? ""}: ${identity[at + 1] ?? ""}`)
    }
    server.once("headers", onHeaders)
    server.handleUpgrade(request, socket, head, (opened) => {
      const client = makeLiveClient(opened, timers.nowMs)
      const listener: Listener = { client, mayStay: () => judge(request, headers)._tag === "Allowed" }
      if (listeners.size === 0) begin()
      listeners.add(listener)
      opened.on("close", () => {
        listeners.delete(listener)
        if (listeners.size === 0) end()
      })
      client.send(JSON.stringify({ type: "welcome", version, sessionId: id, channels, backlog: [] }))
    })
    server.off("headers", onHeaders)
  }

  longLived.register({
    drain: () => {
      isStopping = true
      for (const { client } of listeners) client.close(closeCodes.goingAway, "The gateway is stopping.")
    },
    cut: () => {
      for (const { client } of listeners) client.cut()
    }
  })

  return LiveFeed.of({
    isAt: ({ method = "GET", url = "/" }) => routeAt(match(method, url))?.key === "live.describe",
    upgrade,
    clients: () => listeners.size,
    ownPort: () => ownPort,
    listensAt: (port) => {
      ownPort = port
    }
  })
})

export const layer: Layer.Layer<LiveFeed, never, Events.Events | Gate.Gate | IdGen.IdGen | LongLived | Timers.Timers> =
  Layer.scoped(LiveFeed, make)
