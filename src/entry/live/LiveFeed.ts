/**
 * The live feed: events of the gateway, sent over WebSockets to people who manage it, and to others those of their own requests (docs/live-feed.md). Without listeners no message is
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
import type { Denied } from "../../subjects/auth/Access.ts"
import { ApiKeys } from "../../subjects/auth/ApiKeys.ts"
import * as Gate from "../../subjects/auth/Gate.ts"
import { peerAddressOf } from "../../subjects/auth/PeerAddress.ts"
import type { ErrorView } from "../../contract/domain/Errors.ts"
import type { Operation } from "../../contract/tiers/Rights.ts"
import type { Principal } from "../../subjects/keys/entity.ts"
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
import { ownChannel, OwnListeners } from "./OwnListeners.ts"
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

/** Places of people who listen to their own requests: they take none of those who manage. */
export const maxOwnClients = 256
/** Pages that one of them has open at once. */
export const maxOwnClientsOfPerson = 8

const ownFull = transportError(
  503,
  null,
  `At most ${maxOwnClients} people may listen to their own requests at once, with ${maxOwnClientsOfPerson} pages each. Close one, or try again later.`
)

interface Listener {
  readonly client: LiveClient
  /** Person who listens to the own requests and nothing else; null: to everything. */
  readonly ownOf: string | null
  /** Checks whether it may still listen: its session may have ended, its key may be revoked. */
  readonly mayStay: () => boolean
}

const services = Effect.all({
  longLived: LongLived,
  events: Events.Events,
  gate: Gate.Gate,
  keys: ApiKeys,
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
  readonly #own: OwnListeners
  #timer: Timers.Timer | null = null
  #turns = 0

  constructor({ events, journal, keys, running, timers }: Deps) {
    this.#timers = timers
    this.#own = new OwnListeners({ events, keyOf: keys.get })
    this.#sources = makeSources({
      events,
      journal,
      running,
      nowMs: timers.nowMs,
      send: (event, sampled) => this.#send(event, sampled)
    })
  }

  /** Number of those who manage. */
  count(): number {
    return this.#listeners.size - this.#own.count(null)
  }

  /** Checks whether there is a place for one more. */
  hasPlace(ownOf: string | null): boolean {
    if (ownOf === null) return this.count() < maxClients
    return this.#own.count(null) < maxOwnClients && this.#own.count(ownOf) < maxOwnClientsOfPerson
  }

  add(listener: Listener): void {
    if (this.#listeners.size === 0) this.#timer = this.#timers.after(turnMs, () => this.#turn())
    this.#listeners.add(listener)
    if (listener.ownOf !== null) this.#own.add(listener.client, listener.ownOf)
    this.listen()
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener)
    this.#own.remove(listener.client)
    this.listen()
    if (this.#listeners.size === 0) this.end()
  }

  /** Some of them may have chosen other channels. */
  listen(): void {
    const all = [...this.#listeners].filter(({ ownOf }) => ownOf === null)
    this.#sources.listen(new Set(Array.from(all, ({ client }) => [...client.wanted()]).flat()))
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
    for (const { client, ownOf } of this.#listeners) {
      if (ownOf === null && client.wanted().has(event.channel)) client.send((frame ??= eventFrame(event, sampled)))
    }
  }

  #turn(): void {
    this.#timer = this.#timers.after(turnMs, () => this.#turn())
    this.#turns += 1
    this.#sources.turn()
    this.#own.turn()
    for (const { client, mayStay } of this.#listeners) {
      if (!mayStay()) client.close(closeCodes.policyViolation, "The session or key is no longer valid.")
      else if (this.#turns % pingEveryTurns === 0) client.ping()
    }
  }
}

/** `isLook`: a listener that was let in is looked at again. */
const judge = (
  { gate, timers }: Deps,
  { socket }: IncomingMessage,
  headers: RequestHeaders,
  isLook: boolean,
  operation: Operation = "administer"
) =>
  gate.judge(
    "manage",
    {
      method: "GET",
      url: path,
      headers,
      socketAddress: peerAddressOf(socket),
      category: null,
      takesSession: false,
      operation: () => operation,
      isLook
    },
    timers.nowMs()
  )

const personOf = (principal: Principal): string | null =>
  principal._tag === "Session"
    ? (principal.person?.userId ?? null)
    : principal._tag === "Key"
      ? principal.key.userId
      : null

type Heard =
  | { readonly _tag: "Denied"; readonly denied: Denied }
  | { readonly _tag: "Allowed"; readonly principal: Principal; readonly ownOf: string | null }

/** Finds what a caller may hear: everything with the right to manage, else the own requests of the person. */
const heardBy = (deps: Deps, request: IncomingMessage, headers: RequestHeaders, isLook: boolean): Heard => {
  const whole = judge(deps, request, headers, isLook)
  if (whole._tag === "Allowed") return { _tag: "Allowed", principal: whole.principal, ownOf: null }
  const own = judge(deps, request, headers, isLook, "readRequests")
  const ownOf = own._tag === "Allowed" ? personOf(own.principal) : null
  return own._tag === "Denied" || ownOf === null
    ? { _tag: "Denied", denied: whole }
    : { _tag: "Allowed", principal: own.principal, ownOf }
}

/** Decides on an upgrade: the refusal, or whose requests it is about. */
const decide = (
  deps: Deps,
  audience: Audience,
  request: IncomingMessage,
  headers: RequestHeaders
): { readonly refused: ErrorView } | { readonly refused: null; readonly ownOf: string | null } => {
  if (request.method !== "GET") return { refused: wrongMethod }
  if (audience.isStopping) return { refused: stopping }
  const heard = heardBy(deps, request, headers, false)
  if (heard._tag === "Denied") {
    // A full feed says so to everybody, as it always did.
    if (!audience.hasPlace(null)) return { refused: full }
    return { refused: transportError(heard.denied.status, heard.denied.code, heard.denied.message) }
  }
  if (!audience.hasPlace(heard.ownOf)) return { refused: heard.ownOf === null ? full : ownFull }
  // Browsers send the cookie along with the upgrade of any page, and ask no server before.
  const isForeign =
    heard.principal._tag === "Session" && isCrossSite(headers) && deps.gate.namedOrigin(headers) === null
  return isForeign ? { refused: foreign } : { refused: null, ownOf: heard.ownOf }
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
    const decision = decide(deps, audience, request, headers)
    if (decision.refused !== null) return refuseUpgrade(socket, decision.refused, id)
    const { ownOf } = decision
    const open = ownOf === null ? channels : [ownChannel]
    const onHeaders = (sent: Array<string>): void => {
      const identity = identityHeaders(id)
      for (let at = 0; at + 1 < identity.length; at += 2) sent.push(`${identity[at] ?? ""}: ${identity[at + 1] ?? ""}`)
    }
    server.once("headers", onHeaders)
    server.handleUpgrade(request, socket, head, (opened) => {
      const client = makeLiveClient(opened, timers.nowMs, () => audience.listen(), open)
      const mayStay = (): boolean => {
        const heard = heardBy(deps, request, headers, true)
        return heard._tag === "Allowed" && heard.ownOf === ownOf
      }
      const listener: Listener = { client, ownOf, mayStay }
      audience.add(listener)
      opened.on("close", () => audience.remove(listener))
      client.send(JSON.stringify({ type: "welcome", version, sessionId: id, channels: open, backlog: [] }))
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
