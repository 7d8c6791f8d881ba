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
import { identityHeaders } from "../../plane/request/Headers.ts"
import { Overloaded } from "../../domain/Errors.ts"
import { apiKeyIdOf, type Exchange } from "../../plane/request/Exchange.ts"
import { makeFairPlaces } from "../../kernel/collections/FairPlaces.ts"
import * as BodyBudget from "../../plane/resilience/BodyBudget.ts"
import * as LoadShedder from "../../plane/resilience/LoadShedder.ts"
import * as Pipeline from "../../plane/Pipeline.ts"
import { tappedWhereOn, TrafficTap } from "../../plane/tap/TrafficTap.ts"
import { makeResponseHistory } from "../../plane/state/ResponseHistory.ts"
import * as AppConfig from "../../platform/AppConfig.ts"
import * as IdGen from "../../platform/IdGen.ts"
import { Slices } from "../../plane/resilience/Slices.ts"
import * as Timers from "../../platform/Timers.ts"
import { Tunnels } from "../../net/tunnels/Tunnels.ts"
import * as OpenStreams from "../listening/OpenStreams.ts"
import { openSession, type Session } from "./Session.ts"
import { full, judgeUpgrade, lastingHeaders, principalOf, refuseUpgrade } from "./Upgrade.ts"
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

export const make = Effect.gen(function* () {
  const longLived = yield* LongLived
  const config = yield* AppConfig.AppConfig
  const gate = yield* Gate.Gate
  const flags = yield* Flags.Flags
  const ids = yield* IdGen.IdGen
  const timers = yield* Timers.Timers
  const streams = yield* OpenStreams.OpenStreams
  const pipeline = yield* Pipeline.Pipeline
  const tap = yield* TrafficTap
  const shedder = yield* LoadShedder.LoadShedder
  const bodies = yield* BodyBudget.BodyBudget
  const slices = yield* Slices
  const tunnels = yield* Tunnels

  const history = makeResponseHistory()
  const sessions = new Set<Session>()
  const places = makeFairPlaces(() => maxSockets)
  const none = yield* Effect.makeLatch(true)
  let draining = false

  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    // Compression would cost memory per socket and time per frame, and no client needs it.
    perMessageDeflate: false,
    maxPayload: config.maxBodyBytes
  })

  let watch: Timers.Timer | null = null
  const tick = (): void => {
    const nowMs = timers.nowMs()
    for (const session of sessions) session.tick(nowMs)
    watch = timers.after(pingEveryMs, tick)
  }
  const stopWatching = (): void => {
    watch?.cancel()
    watch = null
  }
  yield* Effect.addFinalizer(() => Effect.sync(stopWatching))

  const tapped = (exchange: Exchange): Exchange => tappedWhereOn(tap, exchange, "ws")

  /** Each turn counts as a request of its own. */
  const serve = (asked: Exchange): void => {
    const exchange = tapped(asked)
    const entered = shedder.enter(apiKeyIdOf(exchange))
    if (LoadShedder.isShed(entered)) pipeline.refuse(exchange, new Overloaded(entered))
    else pipeline.serve(exchange, entered)
  }

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer, began: Began): void => {
    const openedMs = timers.nowMs()
    const id = ids.next(openedMs)
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
      full: draining || sessions.size >= maxSockets,
      access: () => access(openedMs)
    })
    if ("status" in verdict) return refuseUpgrade(socket, verdict, id)
    const leave = places.enter(apiKeyIdOf(verdict) ?? "")
    if (leave === null) return refuseUpgrade(socket, full, id)
    // Also where it does not become a socket after all.
    socket.once("close", leave)
    const onHeaders = (headers: Array<string>): void => {
      const identity = identityHeaders(id)
      for (let at = 0; at + 1 < identity.length; at += 2)
        headers.push(`${identity[at] ?? ""}: ${identity[at + 1] ?? ""}`)
    }
    // `handleUpgrade` answers before it returns: the listener is for this upgrade alone.
    server.once("headers", onHeaders)
    server.handleUpgrade(request, socket, head, (opened) => {
      const session = openSession(
        opened,
        { id, path: verdict.path, headers: lastingHeaders(request.headers), openedMs, apiKeyId: apiKeyIdOf(verdict) },
        {
          nowMs: timers.nowMs,
          monotonicMs: timers.monotonicMs,
          nextId: ids.next,
          judge: (nowMs) => principalOf(access(nowMs)),
          serve,
          refuse: (exchange, error) => pipeline.refuse(tapped(exchange), error),
          bodies,
          slices,
          history,
          maxBodyBytes: config.maxBodyBytes,
          began: () => {
            const over = began()
            streams.opened()
            return () => {
              streams.closed()
              over()
            }
          }
        }
      )
      sessions.add(session)
      // Before the frames are made of it: what is not a whole frame yet is in memory too.
      const count = (chunk: Buffer): void => {
        if (session.arriving(chunk.length)) return
        socket.off("data", count)
        socket.end(() => socket.destroy())
      }
      socket.prependListener("data", count)
      none.unsafeClose()
      opened.on("close", () => {
        sessions.delete(session)
        if (sessions.size > 0) return
        stopWatching()
        none.unsafeOpen()
      })
      watch ??= timers.after(pingEveryMs, tick)
    })
    server.off("headers", onHeaders)
  }

  longLived.register({
    drain: () => {
      draining = true
      for (const session of sessions) session.drain()
    },
    cut: () => {
      for (const session of sessions) session.cut()
    },
    closed: none.await
  })

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
