/**
 * The HTTP server: a request is matched with the route table, and served by the raw edge or the management plane. On shutdown it accepts no
 * new connection; running requests may finish within the drain time, then they end with an error and are closed.
 */
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { createServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { match } from "../api/Routes.ts"
import { StopSignal } from "../inference/request/StopSignal.ts"
import * as AppConfig from "../platform/AppConfig.ts"
import * as Edge from "./Edge.ts"
import { FrontDoor } from "./FrontDoor.ts"
import { ManagementDoor } from "./ManagementDoor.ts"
import { ignoreUpgrade, isWebSocketUpgrade } from "./ws/IgnoredUpgrade.ts"
import * as ResponsesSocket from "./ws/ResponsesSocket.ts"

/** The address cannot be listened on. `message` is for people and has the remedy. */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{ readonly message: string }> {}

export class HttpServer extends Context.Tag("gateway/http/HttpServer")<
  HttpServer,
  {
    /** `http://host:port` as clients reach it. */
    readonly url: string
    readonly port: number
    /** Requests being served, those of sockets included. */
    readonly inFlight: () => number
  }
>() {}

const listenMessage = (code: string | undefined, host: string, port: number): string => {
  switch (code) {
    case "EADDRINUSE":
      return `Port ${port} on ${host} is already in use. Choose another with --port <n> (or --port 0 for a free one).`
    case "EACCES":
      return `Port ${port} on ${host} may not be opened by this user. Choose one above 1023 with --port <n>.`
    case "EADDRNOTAVAIL":
    case "ENOTFOUND":
      return `The address '${host}' is not one of this machine. Choose another with --host <address>.`
    default:
      return `Listening on ${host}:${port} failed${code === undefined ? "" : ` (${code})`}.`
  }
}

/** Connections that wait to be accepted. With node's 511 a burst of a thousand clients finds no place, and each waits seconds to ask again. */
const backlog = 4_096

const listen = (server: Server, host: string, port: number): Effect.Effect<AddressInfo, ListenFailed> =>
  Effect.async((resume) => {
    const onError = (error: NodeJS.ErrnoException): void =>
      resume(Effect.fail(new ListenFailed({ message: listenMessage(error.code, host, port) })))
    server.once("error", onError)
    server.listen({ port, host, backlog }, () => {
      server.off("error", onError)
      const address = server.address()
      resume(
        address === null || typeof address === "string"
          ? Effect.fail(new ListenFailed({ message: listenMessage(undefined, host, port) }))
          : Effect.succeed(address)
      )
    })
  })

const urlOf = (address: AddressInfo): string =>
  `http://${address.family === "IPv6" ? `[${address.address}]` : address.address}:${address.port}`

/** Time after the drain for running requests to send their error, and for clients of sockets to close. */
const goodbyeMs = 2_000

/**
 * Accepts no new connection and waits until nothing is running, at most `drainMs`; what still runs then ends with an error for its
 * client. Connections left after that are destroyed.
 */
const close = (
  server: Server,
  sockets: typeof ResponsesSocket.ResponsesSocket.Service,
  stop: typeof StopSignal.Service,
  drained: Effect.Effect<void>,
  drainMs: number
): Effect.Effect<void> =>
  Effect.gen(function* () {
    const closed = yield* Deferred.make<void>()
    server.close(() => Deferred.unsafeDone(closed, Effect.void))
    server.closeIdleConnections()
    sockets.drain()
    // A finalizer cannot be interrupted; waiting with a limit has to be.
    yield* Effect.interruptible(drained).pipe(Effect.timeoutOption(drainMs))
    stop.stop()
    const over = Effect.zipRight(drained, sockets.allClosed)
    yield* Effect.interruptible(over).pipe(Effect.timeoutOption(goodbyeMs))
    server.closeAllConnections()
    sockets.cut()
    yield* Deferred.await(closed)
  })

export const make: Effect.Effect<
  Context.Tag.Service<HttpServer>,
  ListenFailed,
  | AppConfig.AppConfig
  | Edge.Edge
  | FrontDoor
  | ManagementDoor
  | ResponsesSocket.ResponsesSocket
  | StopSignal
  | Scope.Scope
> = Effect.gen(function* () {
  const config = yield* AppConfig.AppConfig
  const frontDoor = yield* FrontDoor
  const edge = yield* Edge.Edge
  const management = yield* ManagementDoor
  const sockets = yield* ResponsesSocket.ResponsesSocket
  const stop = yield* StopSignal
  const runFork = Runtime.runFork(yield* Effect.runtime<never>())
  const idle = yield* Effect.makeLatch(true)
  let inFlight = 0

  const over = (): void => {
    if (--inFlight === 0) idle.unsafeOpen()
  }
  const began = (): (() => void) => {
    if (inFlight++ === 0) idle.unsafeClose()
    return over
  }

  const server = createServer({ keepAliveTimeout: 72_000, headersTimeout: 60_000 }, (request, response) => {
    response.on("close", began())
    const found = match(request.method ?? "GET", request.url ?? "/")
    if (!frontDoor.admits(found, request, response)) return
    if (!edge.handle(found, request, response)) management.handle(found, request, response)
  })
  server.on("upgrade", (request, socket, head) => {
    if (isWebSocketUpgrade(request)) {
      if (frontDoor.admitsUpgrade(request, socket)) sockets.upgrade(request, socket, head, began)
    } else ignoreUpgrade(server, request, socket, head)
  })
  server.on("clientError", (_error, socket) => {
    if (socket.writable)
      socket.end(
        "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n\r\n"
      )
    else socket.destroy()
  })

  const address = yield* Effect.acquireRelease(listen(server, config.host, config.port), () =>
    close(server, sockets, stop, idle.await, config.drainMs)
  )
  server.on("error", (error) => {
    runFork(Effect.logError("The HTTP server reports an error", error))
  })
  return HttpServer.of({ url: urlOf(address), port: address.port, inFlight: () => inFlight })
})

export const layer: Layer.Layer<
  HttpServer,
  ListenFailed,
  AppConfig.AppConfig | Edge.Edge | FrontDoor | ManagementDoor | ResponsesSocket.ResponsesSocket | StopSignal
> = Layer.scoped(HttpServer, make)
