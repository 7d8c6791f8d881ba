/**
 * An explicit HTTP proxy on loopback: CONNECT, and requests with an absolute `http` URL. What goes through a tunnel is not read, only that it
 * was there, unless TLS is intercepted: then the tunnel ends in the decrypting listener.
 */
import {
  Agent,
  type ClientRequestArgs,
  createServer,
  type IncomingMessage,
  type Server,
  type ServerResponse
} from "node:http"
import { isIP, type Socket } from "node:net"
import { Duplex } from "node:stream"
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type { CaptureSource, TunnelReason } from "../CaptureSink.ts"
import type { Recording } from "../tls/Exchange.ts"
import { type Destination, maxHeadBytes, relay, relayUpgrade } from "../tls/HttpRelay.ts"
import { IdleSockets } from "../tls/IdleSockets.ts"
import type { Listener } from "../tls/Listener.ts"
import { DialFailed } from "../tls/Origin.ts"
import { valueOf, without } from "../tls/RelayedHeaders.ts"
import { tunnel } from "../tls/Tunnel.ts"
import { type AbsoluteTarget, type Authority, hopHeaders, readAbsoluteTarget, readAuthority } from "./Authority.ts"
import { type Dialer, type DialerOptions, makeDialer } from "./Dialer.ts"

export interface HttpProxyOptions extends Omit<DialerOptions, "isSelf" | "timers"> {
  /** 0: a free one. */
  readonly port: number
  readonly recording: Recording
  readonly idleTimeoutMs: number
  /** Returns the source; called for every request: the operating system may have been set to this proxy meanwhile. */
  readonly source: () => Extract<CaptureSource, "http-proxy" | "system-proxy">
  /** Returns the decrypting listener; called for every CONNECT; null: tunnels are not read. */
  readonly decrypting: () => Listener | null
}

export interface HttpProxy {
  readonly port: number
  readonly connections: () => number
  /** Nothing of it is left then. */
  readonly close: Effect.Effect<void>
}

/** Another program listens there. */
export class PortInUse extends Data.TaggedError("CapturePortInUse")<{ readonly port: number }> {}

/** `code` is the operating system's word for it. */
export class ListenFailed extends Data.TaggedError("CaptureListenFailed")<{
  readonly port: number
  readonly code: string
}> {}

const host = "127.0.0.1"
export const maxProxyConnections = 2_048
const established = "HTTP/1.1 200 Connection Established\r\n\r\n"
const noSocket = new Duplex()

const phrases: Readonly<Record<DialFailed["status"], string>> = {
  400: "Bad Request",
  403: "Forbidden",
  502: "Bad Gateway",
  504: "Gateway Timeout"
}

const refusal = (status: DialFailed["status"], message: string): string => {
  const body = `${message}\n`
  return `HTTP/1.1 ${status} ${phrases[status]}\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`
}

const noProxyRequest = "This is a proxy. It takes CONNECT and requests with an absolute http URL."

/** Requests to one server after the other, each over a connection of its own: what a client's own connection means stays with the client. */
class DialingAgent extends Agent {
  readonly #dial: Dialer
  readonly #watch: (socket: Socket) => void

  constructor(dial: Dialer, watch: (socket: Socket) => void) {
    super({ keepAlive: false, maxTotalSockets: maxProxyConnections })
    this.#dial = dial
    this.#watch = watch
  }

  override createConnection(
    options: ClientRequestArgs,
    done?: (error: Error | null, socket: Duplex) => void
  ): undefined {
    this.#dial(options.host ?? "", Number(options.port), (dialled) => {
      if (dialled instanceof DialFailed) return done?.(dialled, noSocket)
      this.#watch(dialled)
      done?.(null, dialled)
    })
  }
}

const isLoopback = (address: string): boolean => {
  const plain = address.replace(/^::ffff:/iu, "")
  return isIP(plain) === 4 ? plain.startsWith("127.") : plain === "::1"
}

const noHttp = "This is no HTTP request."
const noAuthority = "CONNECT needs a host and a port."

const refuse = (socket: Socket, failure: DialFailed): void => {
  socket.end(refusal(failure.status, failure.message))
  socket.destroySoon()
}

class ProxyServer {
  readonly #options: HttpProxyOptions
  readonly #clients: IdleSockets
  readonly #servers: IdleSockets
  readonly #dial: Dialer
  readonly #agent: Agent
  readonly #server: Server
  #ownPort = 0

  constructor(options: HttpProxyOptions) {
    const { idleTimeoutMs, recording } = options
    const { timers } = recording
    this.#options = options
    this.#clients = new IdleSockets(timers, idleTimeoutMs)
    this.#servers = new IdleSockets(timers, idleTimeoutMs)
    this.#dial = makeDialer({
      ...options,
      timers,
      isSelf: (address, port) => port === this.#ownPort && isLoopback(address)
    })
    this.#agent = new DialingAgent(this.#dial, (socket) => this.#servers.watch(socket))
    this.#server = this.#makeServer()
  }

  readonly listen = Effect.async<HttpProxy, PortInUse | ListenFailed>((resume) => {
    const { port } = this.#options
    this.#server.once("error", (error: NodeJS.ErrnoException) =>
      resume(
        Effect.fail(
          error.code === "EADDRINUSE"
            ? new PortInUse({ port })
            : new ListenFailed({ port, code: error.code ?? "UNKNOWN" })
        )
      )
    )
    this.#server.listen(port, host, () => {
      const address = this.#server.address()
      this.#ownPort = address === null || typeof address === "string" ? port : address.port
      resume(Effect.succeed({ port: this.#ownPort, connections: () => this.#clients.size, close: this.#close }))
    })
  })

  readonly #close = Effect.async<void>((resume) => {
    this.#server.close(() => resume(Effect.void))
    this.#agent.destroy()
    this.#servers.destroyAll()
    this.#clients.destroyAll()
  })

  #makeServer(): Server {
    const server = createServer({ maxHeaderSize: maxHeadBytes }, this.#onRequest)
    server.maxConnections = maxProxyConnections
    // Idle connections are ended by `#clients`.
    server.keepAliveTimeout = 0
    server.requestTimeout = 0
    server.on("connection", (socket: Socket) => this.#clients.watch(socket))
    server.on("checkContinue", this.#onRequest)
    server.on("upgrade", (request, socket, head) => this.#onUpgrade(request, socket, head))
    server.on("connect", (request: IncomingMessage, _socket, head: Buffer) => this.#onConnect(request, head))
    server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
      const isHttp = error.code?.startsWith("HPE_") === true
      if (isHttp && socket.writable) socket.end(refusal(400, noHttp))
      else socket.destroy()
    })
    return server
  }

  readonly #onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const target = readAbsoluteTarget(request.url ?? "")
    if (target !== null) {
      return relay(this.#options.recording, request, response, this.#destinationOf(request, target, false))
    }
    const body = `${noProxyRequest}\n`
    response.writeHead(400, { "content-type": "text/plain; charset=utf-8", connection: "close" })
    response.end(body)
  }

  #onUpgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const target = readAbsoluteTarget(request.url ?? "")
    if (target === null) return void socket.end(refusal(400, noProxyRequest))
    const destination = this.#destinationOf(request, target, true)
    relayUpgrade(this.#options.recording, request, request.socket, head, destination)
  }

  #onConnect(request: IncomingMessage, head: Buffer): void {
    const { socket } = request
    socket.on("error", () => socket.destroy())
    const to = readAuthority(request.url ?? "")
    if (to === null) return void socket.end(refusal(400, noAuthority))
    if (head.length > 0) socket.unshift(head)
    const listener = this.#options.decrypting()
    if (listener === null) return this.#handOn(socket, to, "not_enabled")
    socket.write(established)
    listener.accept(socket, {
      name: isIP(to.host) === 0 ? to.host : null,
      address: isIP(to.host) === 0 ? null : to.host,
      port: to.port,
      dial: (_name, done) => this.#dial(to.host, to.port, done),
      labelOf: () => ({ source: this.#options.source(), agent: null })
    })
  }

  #handOn(socket: Socket, to: Authority, reason: TunnelReason): void {
    tunnel({
      recording: this.#options.recording,
      client: socket,
      record: { ...this.#recordOf(socket, to), scheme: "https" },
      reason,
      dial: (done) =>
        this.#dial(to.host, to.port, (dialled) => {
          if (!(dialled instanceof DialFailed)) {
            this.#servers.watch(dialled)
            if (!socket.destroyed) socket.write(established)
          }
          done(dialled)
        }),
      refuse: (failure) => refuse(socket, failure)
    })
  }

  #destinationOf(request: IncomingMessage, target: AbsoluteTarget, isUpgrade: boolean): Destination {
    return {
      agent: this.#agent,
      host: target.host,
      port: target.port,
      path: target.path,
      headers: [
        "Host",
        target.hostHeader,
        ...without(request.rawHeaders, hopHeaders(`${request.headers.connection ?? ""},host`, isUpgrade))
      ],
      answerHeaders: (headers) => without(headers, hopHeaders(valueOf(headers, "connection") ?? "", false)),
      record: { ...this.#recordOf(request.socket, target), scheme: "http", host: target.hostHeader, path: target.path },
      begun: () => {},
      over: () => {}
    }
  }

  #recordOf(socket: Socket, { host: named, port }: Authority) {
    return {
      source: this.#options.source(),
      agent: null,
      host: named,
      serverName: null,
      client: { address: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 },
      server: { address: named, port }
    }
  }
}

export const start = (options: HttpProxyOptions): Effect.Effect<HttpProxy, PortInUse | ListenFailed> =>
  Effect.suspend(() => new ProxyServer(options).listen)
