/**
 * The HTTP server: a request is matched with the route table, and served by the raw edge or the management plane. On shutdown it accepts no
 * new connection; running requests may finish within the drain time, then they end with an error and are closed.
 */
import * as Context from "effect/Context"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import type * as Scope from "effect/Scope"
import type { IncomingMessage } from "node:http"
import type { AddressInfo } from "node:net"
import { match } from "../../contract/Routes.ts"
import { GatewayCapture } from "../../plane/tap/GatewayCapture.ts"
import { StopSignal } from "../../plane/request/StopSignal.ts"
import * as AppConfig from "../../platform/AppConfig.ts"
import { type Retirement, Retiring } from "../../platform/Retiring.ts"
import * as Edge from "./Edge.ts"
import { RequestGuard } from "./RequestGuard.ts"
import { type Handlers, type ListenFailed, Listener } from "../listening/Listener.ts"
import { cookieOf } from "../../subjects/auth/sessions/SessionCookie.ts"
import { GatewaySettings } from "../../subjects/flags/StoredFlags.ts"
import { makePublicAddress } from "../listening/PublicAddress.ts"
import { ManagementEndpoint } from "../management/ManagementEndpoint.ts"
import { InspectorFeed } from "../live/InspectorFeed.ts"
import { LiveFeed } from "../live/LiveFeed.ts"
import { LongLived } from "../listening/LongLived.ts"
import { Relay } from "../relay/Relay.ts"
import { ignoreUpgrade, isWebSocketUpgrade } from "../ws/IgnoredUpgrade.ts"
import * as ResponsesSocket from "../ws/ResponsesSocket.ts"

export class HttpServer extends Context.Tag("gateway/entry/server/HttpServer")<
  HttpServer,
  {
    /** `http://host:port` as clients reach it. */
    readonly url: string
    readonly port: number
    /** Requests being served, those of sockets included. */
    readonly inFlight: () => number
  }
>() {}

const urlOf = (address: AddressInfo): string =>
  `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`

/** Time after the drain for running requests to send their error, and for clients of sockets to close. */
const goodbyeMs = 2_000

/**
 * Hands out no further request and waits until nothing is running, at most `drainMs`; what still runs then ends with an error for its
 * client. Connections left after that are destroyed. While the service restarts, the port stays open and connections without a request too.
 */
const close = (
  listener: typeof Listener.Service,
  longLived: typeof LongLived.Service,
  stop: typeof StopSignal.Service,
  drained: Effect.Effect<void>,
  { drainMs, idleMs }: Retirement
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const restarts = listener.isHolding()
    if (idleMs > 0) yield* listener.retire(idleMs)
    if (!restarts) yield* listener.close
    longLived.drain()
    // A finalizer cannot be interrupted; waiting with a limit has to be.
    yield* Effect.interruptible(drained).pipe(Effect.timeoutOption(drainMs))
    stop.stop()
    const over = Effect.zipRight(drained, longLived.closed)
    yield* Effect.interruptible(over).pipe(Effect.timeoutOption(goodbyeMs))
    if (restarts) listener.cutRunning()
    longLived.cut()
    if (!restarts) yield* listener.cutAll
  })

export const make: Effect.Effect<
  Context.Tag.Service<HttpServer>,
  ListenFailed,
  | AppConfig.AppConfig
  | Edge.Edge
  | GatewayCapture
  | GatewaySettings
  | RequestGuard
  | Listener
  | LiveFeed
  | InspectorFeed
  | ManagementEndpoint
  | LongLived
  | ResponsesSocket.ResponsesSocket
  | StopSignal
  | Scope.Scope
> = Effect.gen(function* () {
  const config = yield* AppConfig.AppConfig
  const settings = yield* GatewaySettings
  const requestGuard = yield* RequestGuard
  const edge = yield* Edge.Edge
  const management = yield* ManagementEndpoint
  const sockets = yield* ResponsesSocket.ResponsesSocket
  const live = yield* LiveFeed
  const inspector = yield* InspectorFeed
  const longLived = yield* LongLived
  const stop = yield* StopSignal
  const relay = yield* Relay
  const capture = yield* GatewayCapture
  const retiring = yield* Retiring
  const listener = yield* Listener
  const idle = yield* Effect.makeLatch(true)
  const publicAddress = makePublicAddress(() => settings.publicUrl() ?? config.publicUrl, config.trustedProxies)
  let inFlight = 0

  const over = (): void => {
    if (--inFlight === 0) idle.unsafeOpen()
  }
  const began = (): (() => void) => {
    if (inFlight++ === 0) idle.unsafeClose()
    return over
  }

  /** In a worker: sessions are the owner's, and so is what is recorded. */
  const isKnownAtHome = ({ headers }: IncomingMessage): boolean =>
    capture.isEnabled() || (headers.cookie !== undefined && cookieOf(headers) !== null)

  const handlers: Handlers = {
    request: (request, response) => {
      const { url = "/" } = request
      publicAddress(request)
      listener.track(response, began())
      const found = match(request.method ?? "GET", request.url ?? "/")
      if (relay !== null && (relay.takes(found) || isKnownAtHome(request))) return relay.request(url, request, response)
      if (!requestGuard.admits(found, request, response)) return
      if (!edge.handle(found, request, response)) management.handle(found, request, response)
    },
    upgrade: (server, request, socket, head) => {
      if (relay !== null && isWebSocketUpgrade(request)) return relay.upgrade(request, socket, head)
      publicAddress(request)
      if (isWebSocketUpgrade(request)) {
        if (inspector.isAt(request)) return inspector.upgrade(request, socket, head)
        if (!requestGuard.admitsUpgrade(request, socket)) return
        if (live.isAt(request)) live.upgrade(request, socket, head)
        else sockets.upgrade(request, socket, head, began)
      } else ignoreUpgrade(server, request, socket, head)
    }
  }

  const address = yield* Effect.acquireRelease(listener.serve(config.host, config.port, handlers), () =>
    close(listener, longLived, stop, idle.await, retiring() ?? { drainMs: config.drainMs, idleMs: 0 })
  )
  return HttpServer.of({ url: urlOf(address), port: address.port, inFlight: () => inFlight })
})

export const layer: Layer.Layer<
  HttpServer,
  ListenFailed,
  | AppConfig.AppConfig
  | Edge.Edge
  | GatewayCapture
  | GatewaySettings
  | RequestGuard
  | Listener
  | LiveFeed
  | InspectorFeed
  | ManagementEndpoint
  | LongLived
  | ResponsesSocket.ResponsesSocket
  | StopSignal
> = Layer.scoped(HttpServer, make)
