/** Requests over connections that are read: HTTP/1.1 by a server of Node's, HTTP/2 by a session for each connection. */
import { type IncomingMessage, type Server, type ServerResponse, createServer } from "node:http"
import type { Socket } from "node:net"
import { TLSSocket } from "node:tls"
import type { Refuser } from "./Refusals.ts"
import {
  type RecordOfConnection,
  type ConnectionFacts,
  type Connection,
  type Opener,
  openedFirst,
  recordOf,
  endsAlone,
  type ListenerOptions
} from "./Connection.ts"
import { ServerLink } from "./ServerLink.ts"
import type { Dialled } from "./Origin.ts"
import { type Destination, relay, maxHeadBytes, refuseUpgrade, relayUpgrade } from "./HttpRelay.ts"
import { valueOf } from "./RelayedHeaders.ts"
import { OpenStreams, joinHttp2 } from "./Http2Relay.ts"

/** Number of a client's requests: a client without any may have refused the certificate. */
export interface Counted {
  readonly record: RecordOfConnection
  requests: number
}

interface Served extends ConnectionFacts, Counted {
  readonly link: ServerLink
  /** Null where the client speaks no TLS. */
  readonly refuser: Refuser | null
}

/** Result of asking the server before its client is answered. */
export interface Asked {
  /** Protocol that both will speak. */
  readonly protocol: string
  /** The connection to the server, or why there is none. */
  readonly server: Dialled
  /** The client speaks HTTP/1.1 as well. */
  readonly takesHttp1: boolean
}

/** Speaks HTTP with clients. */
export interface Serving {
  /** Serves over HTTP/1.1. `refuser`: null where the client speaks no TLS. `dialled`: the connection to the server, where there is one already. */
  readonly serve: (connection: Connection, refuser: Refuser | null, dialled?: Dialled | null) => Counted
  /** Serves over HTTP/2. */
  readonly serveHttp2: (connection: Connection, asked: Asked) => Counted
}

const destinationOf = (request: IncomingMessage, { link, origin, record }: Served): Destination => ({
  agent: link,
  host: record.host,
  port: origin.port,
  path: request.url ?? "/",
  headers: request.rawHeaders,
  answerHeaders: (headers) => [...headers],
  record: { ...record, host: valueOf(request.rawHeaders, "host") ?? record.host, path: request.url ?? "/" },
  begun: () => void (link.busy += 1),
  over: () => void (link.busy -= 1)
})

const makeHttpServer = (
  { intercept, recording, refusals, refusesUpgrade }: ListenerOptions,
  served: WeakMap<Socket, Served>
): Server => {
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const facts = served.get(request.socket)
    if (facts === undefined) return void request.socket.destroy()
    if (facts.requests === 0 && facts.refuser !== null) refusals.accepted(facts.refuser)
    facts.requests += 1
    const passOn = (): void => relay(recording, request, response, destinationOf(request, facts))
    if (intercept?.(request, response, facts, passOn) !== true) passOn()
  }

  const http = createServer({ maxHeaderSize: maxHeadBytes }, onRequest)
  // Idle connections are ended by `clients`; a header about them would be one more than the server sent.
  http.keepAliveTimeout = 0
  http.on("checkContinue", onRequest)
  http.on("upgrade", (request, socket, head) => {
    const facts = served.get(request.socket)
    if (facts === undefined) return void socket.destroy()
    facts.requests += 1
    if (refusesUpgrade?.(request, facts) === true)
      return refuseUpgrade(recording, request, destinationOf(request, facts))
    relayUpgrade(recording, request, request.socket, head, destinationOf(request, facts))
  })
  http.on("clientError", (error: NodeJS.ErrnoException, socket: Socket) => {
    if (error.code?.startsWith("HPE_") !== true || !socket.writable) return void socket.destroy()
    // What it sent was no HTTP, but it took the certificate.
    const facts = served.get(socket)
    if (facts !== undefined) facts.requests += 1
    socket.end("HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-length: 0\r\n\r\n")
  })
  return http
}

export const makeServing = (options: ListenerOptions, opener: Opener): Serving => {
  const { http2, needsHttp1, recording } = options
  const served = new WeakMap<Socket, Served>()
  const streams = new OpenStreams()
  const http = makeHttpServer(options, served)

  const serve: Serving["serve"] = (connection, refuser, dialled = null) => {
    const { origin, scheme, serverName, socket } = connection
    const open = opener(connection)
    const link = new ServerLink(dialled === null ? open : openedFirst(dialled, open), () => socket.destroySoon())
    const facts: Served = {
      origin,
      scheme,
      serverName,
      link,
      record: recordOf(connection),
      refuser,
      requests: 0
    }
    served.set(socket, facts)
    socket.once("close", () => link.destroy())
    http.emit("connection", socket)
    // It was paused to look at its first bytes.
    socket.resume()
    return facts
  }

  const serveHttp2: Serving["serveHttp2"] = (connection, { server, takesHttp1 }) => {
    const { origin, serverName, socket } = connection
    const facts: Counted = { record: recordOf(connection), requests: 0 }
    const host = serverName ?? origin.name
    const join = (): void => {
      joinHttp2(socket, {
        http2,
        recording,
        streams,
        server,
        record: facts.record,
        onSettings: () => void (facts.requests += 1),
        needsHttp1: () => takesHttp1 && host !== null && needsHttp1?.(host) === true
      })
      socket.resume()
    }
    if (!(socket instanceof TLSSocket)) {
      join()
      return facts
    }
    endsAlone(socket)
    socket.once("secure", () => {
      // As Node's own servers say it; else HTTP/2 waits for the handshake.
      Object.assign(socket, { secureConnecting: false })
      join()
    })
    return facts
  }

  return { serve, serveHttp2 }
}
