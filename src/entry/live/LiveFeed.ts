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
import type { ErrorView } from "../../contract/domain/Errors.ts"
import * as Events from "../../observe/Events.ts"
import { RunningRequests } from "../../plane/request/RunningRequests.ts"
import { UsageJournal } from "../../store/usage/UsageJournal.ts"
import { identityHeaders } from "../../plane/request/Headers.ts"
import * as IdGen from "../../platform/IdGen.ts"
import * as Timers from "../../platform/Timers.ts"
import { version } from "../../platform/Version.ts"
import { transportError } from "../ws/ServerFrames.ts"
import { refuseUpgrade } from "../ws/Upgrade.ts"
import { channels, eventFrame, type LiveEvent } from "./Channels.ts"
import { type LiveClient, makeLiveClient } from "./LiveClient.ts"
import { makeSources, type Sources } from "./Sources.ts"
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

const services = Effect.all({
  longLived: LongLived,
  events: Events.Events,
  gate: Gate.Gate,
  ids: IdGen.IdGen,
  journal: UsageJournal,
  running: RunningRequests,
  timers: Timers.Timers
})
type Deps = Effect.Effect.Success<typeof services>

/** The clients of the feed, and what is sent to them. A class, because it is state with a beginning and an end. */
class Audience {
  isStopping = false
  readonly #listeners = new Set<Listener>()
  readonly #timers: Deps["timers"]
  readonly #sources: Sources
  #timer: Timers.Timer | null = null
  #turns = 0

  constructor({ events, journal, running, timers }: Deps) {
    this.#timers = timers
    this.#sources = makeSources({
      events,
      journal,
      running,
      nowMs: timers.nowMs,
      send: (event, sampled) => this.#send(event, sampled)
    })
  }

  count(): number {
    return this.#listeners.size
  }

  add(listener: Listener): void {
    if (this.#listeners.size === 0) this.#timer = this.#timers.after(turnMs, () => this.#turn())
    this.#listeners.add(listener)
    this.listen()
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener)
    this.listen()
    if (this.#listeners.size === 0) this.end()
  }

  /** Some of them may have chosen other channels. */
  listen(): void {
    this.#sources.listen(new Set(Array.from(this.#listeners, ({ client }) => [...client.wanted()]).flat()))
  }

  end(): void {
    this.#timer?.cancel()
    this.#timer = null
    this.#turns = 0
    this.#sources.listen(new Set())
  }

  drain(): void {
    this.isStopping = true
    for (const { client } of this.#listeners) client.close(closeCodes.goingAway, "The gateway is stopping.")
  }

  cut(): void {
    for (const { client } of this.#listeners) client.cut()
  }

  #send(event: LiveEvent, sampled?: number): void {
    let frame: string | null = null
    for (const { client } of this.#listeners) {
      if (client.wanted().has(event.channel)) client.send((frame ??= eventFrame(event, sampled)))
    }
  }

  #turn(): void {
    this.#timer = this.#timers.after(turnMs, () => this.#turn())
    this.#turns += 1
    this.#sources.turn()
    for (const { client, mayStay } of this.#listeners) {
      if (!mayStay()) client.close(closeCodes.policyViolation, "The session or key is no longer valid.")
      else if (this.#turns % pingEveryTurns === 0) client.ping()
    }
  }
}

/** `isLook`: a listener that was let in is looked at again. */
const judge = ({ gate, timers }: Deps, { socket }: IncomingMessage, headers: RequestHeaders, isLook: boolean) =>
  gate.judge(
    "manage",
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

const refusalOf = (
  deps: Deps,
  audience: Audience,
  request: IncomingMessage,
  headers: RequestHeaders
): ErrorView | null => {
  if (request.method !== "GET") return wrongMethod
  if (audience.isStopping) return stopping
  if (audience.count() >= maxClients) return full
  const access = judge(deps, request, headers, false)
  if (access._tag === "Denied") return transportError(access.status, access.code, access.message)
  // Browsers send the cookie along with the upgrade of any page, and ask no server before.
  const isForeign =
    access.principal._tag === "Session" && isCrossSite(headers) && deps.gate.namedOrigin(headers) === null
  return isForeign ? foreign : null
}

export const make = Effect.gen(function* () {
  const deps = yield* services
  const { ids, longLived, timers } = deps
  const audience = new Audience(deps)
  yield* Effect.addFinalizer(() => Effect.sync(() => audience.end()))
  let ownPort: number | null = null

  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxFrameBytes
  })

  const upgrade: typeof LiveFeed.Service.upgrade = (request, socket, head, headers = request.headers) => {
    const id = ids.next(timers.nowMs())
    const refused = refusalOf(deps, audience, request, headers)
    if (refused !== null) return refuseUpgrade(socket, refused, id)
    const onHeaders = (sent: Array<string>): void => {
      const identity = identityHeaders(id)
      for (let at = 0; at + 1 < identity.length; at += 2) sent.push(`${identity[at] ?? ""}: ${identity[at + 1] ?? ""}`)
    }
    server.once("headers", onHeaders)
    server.handleUpgrade(request, socket, head, (opened) => {
      const client = makeLiveClient(opened, timers.nowMs, () => audience.listen())
      const listener: Listener = { client, mayStay: () => judge(deps, request, headers, true)._tag === "Allowed" }
      audience.add(listener)
      opened.on("close", () => audience.remove(listener))
      client.send(JSON.stringify({ type: "welcome", version, sessionId: id, channels, backlog: [] }))
    })
    server.off("headers", onHeaders)
  }

  longLived.register({ drain: () => audience.drain(), cut: () => audience.cut() })

  return LiveFeed.of({
    isAt: ({ method = "GET", url = "/" }) => routeAt(match(method, url))?.key === "live.describe",
    upgrade,
    clients: () => audience.count(),
    ownPort: () => ownPort,
    listensAt: (port) => {
      ownPort = port
    }
  })
})

export const layer: Layer.Layer<LiveFeed, never, Effect.Effect.Context<typeof services>> = Layer.scoped(LiveFeed, make)
