/**
 * The listening socket, which outlives the service behind it: while the service restarts, connections are accepted and requests wait until
 * it serves again, so that no client is refused. What waits has not been read, so it costs little.
 */
import * as Clock from "effect/Clock"
import * as Context from "effect/Context"
import * as Data from "effect/Data"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import type * as Fiber from "effect/Fiber"
import * as FiberId from "effect/FiberId"
import * as Layer from "effect/Layer"
import * as Runtime from "effect/Runtime"
import type * as Scope from "effect/Scope"
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { type AddressInfo, Server as NetServer, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { isLoopbackHost } from "../../kernel/BindAddress.ts"
import { Slots } from "../../kernel/collections/Slots.ts"
import { activation, type Activation } from "../../platform/programs/ActivatedSocket.ts"
import { type After, lingerAfterAnswer, mayHaveBody } from "./LingeringClose.ts"
import { StalledBodies, type StallLimits, stallLimits } from "./StalledBodies.ts"

/** The address cannot be listened on. `message` is for people and has the remedy. */
export class ListenFailed extends Data.TaggedError("ListenFailed")<{ readonly message: string }> {}

export interface Handlers {
  readonly request: (request: IncomingMessage, response: ServerResponse) => void
  readonly upgrade: (server: Server, request: IncomingMessage, socket: Duplex, head: Buffer) => void
}

/** An answer that is being made, and its place among those. */
interface Running {
  readonly response: ServerResponse
  readonly over: () => void
  place: number
}

export interface AnotherAddress {
  /** Called with each connection before its first request. */
  readonly accepted: (socket: Socket) => void
  /** Time for which running requests may go on when the scope ends, in milliseconds. */
  readonly drainMs: number
}

export class Listener extends Context.Tag("gateway/entry/listening/Listener")<
  Listener,
  {
    /** Hands requests to these handlers, those that waited first. Listens when nothing did before; later the address is kept. */
    readonly serve: (host: string, port: number, handlers: Handlers) => Effect.Effect<AddressInfo, ListenFailed>
    /** Listens on another address too while the scope is open: the same handlers, limits and waiting. */
    readonly also: (
      host: string,
      port: number,
      options: AnotherAddress
    ) => Effect.Effect<AddressInfo, ListenFailed, Scope.Scope>
    /** Makes requests wait from now on for the next `serve`. */
    readonly hold: Effect.Effect<void>
    readonly isHolding: () => boolean
    /**
     * Accepts no new connection from now on. Those that are open get their next answer with `Connection: close`; done after `idleMs`, by when a client
     * that keeps a connection has used it or will not miss it: another process takes the new ones.
     */
    readonly retire: (idleMs: number) => Effect.Effect<void>
    /** Accepts no new connection from now on, and closes idle ones. */
    readonly close: Effect.Effect<void>
    /** Closes all connections; done when they are. */
    readonly cutAll: Effect.Effect<void>
    /** Hot: an answer that is being made; `over` is called once, when it is closed or set aside. */
    readonly track: (response: ServerResponse, over: () => void) => void
    /** Counts this answer as over although it is not sent: a restart must not wait for the request that asked for it. */
    readonly setAside: (response: ServerResponse) => void
    /** Closes the connections of answers that are not over. */
    readonly cutRunning: () => void
  }
>() {}

/** Says why an address cannot be listened on, with the remedy. */
export const listenMessage = (code: string | undefined, host: string, port: number): string => {
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

/** Requests that wait for a restart; further ones are answered with 503. */
export const mostHeld = 10_000

const listen = (
  server: Server,
  host: string,
  port: number,
  fd: number | null = null
): Effect.Effect<AddressInfo, ListenFailed> =>
  Effect.async((resume) => {
    const onError = (error: NodeJS.ErrnoException): void =>
      resume(Effect.fail(new ListenFailed({ message: listenMessage(error.code, host, port) })))
    server.once("error", onError)
    server.listen(fd === null ? { port, host, backlog } : { fd }, () => {
      server.off("error", onError)
      const address = server.address()
      resume(
        address === null || typeof address === "string"
          ? Effect.fail(new ListenFailed({ message: listenMessage(undefined, host, port) }))
          : Effect.succeed(address)
      )
    })
  })

const refuse = (response: ServerResponse): void => {
  const body = `{"error":{"message":"The gateway is restarting and too many requests wait for it.","type":"server_error","code":"service_unavailable"}}`
  response.writeHead(503, { "content-type": "application/json", "retry-after": "2" }).end(body)
}

/** A server that takes connections. */
export interface Opened {
  readonly address: AddressInfo
  /** Takes no more connections; `done` is called when the last of them is closed. */
  readonly close: (done: () => void) => void
}

/** Makes a server take the connections of its main address. */
export type Open = (server: Server, host: string, port: number) => Effect.Effect<Opened, ListenFailed>

const closeOf =
  (server: Server): Opened["close"] =>
  (done) =>
    void server.close(done)

/** Decides what keeps a socket of systemd from being used: it must reach no further than the address that the settings name. */
const activationProblem = ({ sockets }: Activation, host: string, address: string): string | null => {
  if (sockets > 1)
    return `systemd handed over ${sockets} sockets, and the gateway listens on one. Keep one ListenStream=.`
  return isLoopbackHost(host) && !isLoopbackHost(address)
    ? `The socket of systemd listens on ${address}, and HOST is ${host}. Set HOST=${address}, or let ListenStream= name ${host}.`
    : null
}

const openHere: Open = (server, host, port) => {
  const activated = activation()
  return Effect.flatMap(listen(server, host, port, activated?.fd ?? null), (address) => {
    const problem = activated === null ? null : activationProblem(activated, host, address.address)
    if (problem === null) return Effect.succeed({ address, close: closeOf(server) })
    server.close()
    return new ListenFailed({ message: problem })
  })
}

export interface ListenerLimits {
  /** Time limit in ms until the head of a request is there. */
  readonly headMs: number
  readonly body: StallLimits
}

const usualLimits: ListenerLimits = { headMs: 60_000, body: stallLimits }
/** Time in ms between node's searches for heads that take too long. */
const mostHeadSweepMs = 30_000

const closing = "Connection: close\r\nX-Content-Type-Options: nosniff\r\nContent-Length: 0\r\n\r\n"
const statusOf = (error: NodeJS.ErrnoException): string =>
  error.code === "ERR_HTTP_REQUEST_TIMEOUT" ? "408 Request Timeout" : "400 Bad Request"

type Waiting = { readonly socket: Duplex; readonly go: (handlers: Handlers) => void }

/** Hands requests to the handlers of now, or keeps them until there are some. */
class Handover {
  readonly #bodies: StalledBodies
  readonly #headMs: number
  readonly #run: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>
  #handlers: Handlers | null = null
  /** Connections end with their next answer. */
  isRetiring = false
  #waiting: Array<Waiting> = []

  constructor(headMs: number, bodies: StalledBodies, run: (effect: Effect.Effect<void>) => Fiber.RuntimeFiber<void>) {
    this.#bodies = bodies
    this.#headMs = headMs
    this.#run = run
  }

  serve(handlers: Handlers): void {
    this.#handlers = handlers
    const waited = this.#waiting
    this.#waiting = []
    for (const { go, socket } of waited) if (!socket.destroyed) go(handlers)
  }

  hold(): void {
    this.#handlers = null
  }

  isHolding(): boolean {
    return this.#handlers === null
  }

  makeServer(): Server {
    const options = {
      keepAliveTimeout: 72_000,
      headersTimeout: this.#headMs,
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(this.#headMs, mostHeadSweepMs)
    }
    const made = createServer(options, (request, response) => this.#request(request, response))
    made.on("upgrade", (request, socket, head) => {
      if (this.#handlers !== null) this.#handlers.upgrade(made, request, socket, head)
      else if (this.#waiting.length >= mostHeld) socket.destroy()
      else this.#waiting.push({ socket, go: (next) => next.upgrade(made, request, socket, head) })
    })
    made.on("connection", (socket) => this.#bodies.opened(socket))
    made.on("clientError", (error, socket) => {
      if (socket.writable) socket.end(`HTTP/1.1 ${statusOf(error)}\r\n${closing}`)
      else socket.destroy()
    })
    made.on("error", (error) => {
      if (made.listening) this.#run(Effect.logError("The HTTP server reports an error", error))
    })
    return made
  }

  readonly #after: After = (delayMs, run) => {
    const fiber = this.#run(Effect.delay(Effect.sync(run), delayMs))
    return { cancel: () => fiber.unsafeInterruptAsFork(FiberId.none) }
  }

  #request(request: IncomingMessage, response: ServerResponse): void {
    this.#bodies.begins(request, response)
    if (this.isRetiring) response.shouldKeepAlive = false
    if (!response.shouldKeepAlive && mayHaveBody(request)) lingerAfterAnswer(this.#after, request)
    if (this.#handlers !== null) this.#handlers.request(request, response)
    else if (this.#waiting.length >= mostHeld) refuse(response)
    else this.#waiting.push({ socket: request.socket, go: (next) => next.request(request, response) })
  }
}

/** Answers that are being made. */
class RunningAnswers {
  readonly #running = new Slots<Running>()

  readonly track = (response: ServerResponse, over: () => void): void => {
    const one: Running = { response, over, place: 0 }
    one.place = this.#running.add(one)
    response.on("close", () => this.#over(one))
  }

  readonly setAside = (response: ServerResponse): void =>
    this.#running.forEach((one) => {
      if (one.response === response) this.#over(one)
    })

  readonly cut = (): void => this.#running.forEach(({ response }) => response.destroy())

  #over(one: Running): void {
    if (this.#running.remove(one.place, one)) one.over()
  }
}

/** Sockets and requests of a server from now on. */
const watchServer = (server: Server, accepted: (socket: Socket) => void) =>
  Effect.gen(function* () {
    const idle = yield* Effect.makeLatch(true)
    const sockets = new Set<Socket>()
    let requests = 0
    server.prependListener("connection", (socket) => {
      accepted(socket)
      if (sockets.has(socket)) return
      sockets.add(socket)
      socket.once("close", () => sockets.delete(socket))
    })
    server.prependListener("request", (_, response) => {
      if (requests++ === 0) idle.unsafeClose()
      response.once("close", () => {
        if (--requests === 0) idle.unsafeOpen()
      })
    })
    return { idle, sockets }
  })

/** Accepts no more connections, and returns what waits for the others to end. */
const stopAccepting = (server: Server, close: Opened["close"]): Effect.Effect<Effect.Effect<void>> =>
  Effect.map(Deferred.make<void>(), (closed) => {
    close(() => Deferred.unsafeDone(closed, Effect.void))
    server.closeIdleConnections()
    return Deferred.await(closed)
  })

const sweepOften = (bodies: StalledBodies, sweepMs: number) =>
  Effect.forkScoped(
    Effect.forever(
      Effect.zipRight(
        Effect.sleep(sweepMs),
        Effect.map(Clock.currentTimeNanos, (nanos) => bodies.sweep(Number(nanos / 1_000_000n)))
      )
    )
  )

export const makeWith = (
  { body, headMs }: ListenerLimits,
  open: Open = openHere
): Effect.Effect<Context.Tag.Service<Listener>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const bodies = new StalledBodies(body)
    const handover = new Handover(headMs, bodies, Runtime.runFork(yield* Effect.runtime<never>()))
    const running = new RunningAnswers()
    const server = handover.makeServer()
    /** Servers of other addresses that listen now. */
    const others = new Set<Server>()
    let opened: Opened | null = null
    let isAccepting = false
    let isClosing: Effect.Effect<void> = Effect.void
    yield* sweepOften(bodies, body.sweepMs)

    const serve = Effect.fn("Listener.serve")(function* (host: string, port: number, next: Handlers) {
      const now = opened ?? (yield* open(server, host, port))
      isAccepting ||= opened === null
      opened = now
      handover.serve(next)
      return now.address
    })

    const also = (host: string, port: number, { accepted, drainMs }: AnotherAddress) =>
      Effect.gen(function* () {
        const other = handover.makeServer()
        const { idle, sockets } = yield* watchServer(other, accepted)
        const shut = Effect.gen(function* () {
          const closed = yield* stopAccepting(other, closeOf(other))
          // A finalizer cannot be interrupted; waiting with a limit has to be.
          yield* Effect.interruptible(idle.await).pipe(Effect.timeoutOption(drainMs))
          // WebSockets among them, which the server does not count any more.
          for (const socket of sockets) socket.destroy()
          yield* closed
          others.delete(other)
        })
        const listening = Effect.tap(listen(other, host, port), () => Effect.sync(() => others.add(other)))
        return yield* Effect.acquireRelease(listening, () => shut)
      })

    const retire = Effect.fn("Listener.retire")(function* (idleMs: number) {
      handover.isRetiring = true
      // Node's own closing of an HTTP server ends idle connections at once: a request on its way there would be lost.
      if (server.listening) NetServer.prototype.close.call(server)
      yield* Effect.sleep(idleMs)
    })

    const close = Effect.gen(function* () {
      for (const other of others) {
        other.close()
        other.closeIdleConnections()
      }
      if (opened === null || !isAccepting) return
      isAccepting = false
      isClosing = yield* stopAccepting(server, opened.close)
    })

    // A start that failed, or a stop during a restart: what waits is not served any more.
    yield* Effect.addFinalizer(() =>
      Effect.gen(function* () {
        yield* close
        server.closeAllConnections()
        yield* isClosing
      })
    )
    return Listener.of({
      serve,
      also,
      retire,
      hold: Effect.sync(() => handover.hold()),
      isHolding: () => handover.isHolding(),
      close,
      cutAll: Effect.suspend(() => {
        for (const other of others) other.closeAllConnections()
        server.closeAllConnections()
        return isClosing
      }),
      track: running.track,
      setAside: running.setAside,
      cutRunning: running.cut
    })
  })

/** Layer whose main address is opened by `open`. */
export const layerOpening = (open: Open): Layer.Layer<Listener> => Layer.scoped(Listener, makeWith(usualLimits, open))

export const layer: Layer.Layer<Listener> = layerOpening(openHere)
