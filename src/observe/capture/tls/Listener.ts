/**
 * Listener behind all fronts: the transparent mode, CONNECT of the HTTP proxy, and the port that custom hosts lead to. A front hands over an unread
 * socket and its destination; the rest depends on its first bytes:
 *
 * | the client speaks | what is done |
 * |---|---|
 * | TLS to a host that is never decrypted, or by a client that refuses our certificates for it | handed on unread |
 * | TLS, HTTP/2 among others | the server is asked first: decrypted, with what it chose; HTTP/1.1 for hosts whose requests `intercept` may answer |
 * | TLS, HTTP/2 alone, to a server that speaks none | handed on unread |
 * | TLS, neither HTTP/2 nor HTTP/1.1 | handed on unread |
 * | TLS with a server name that is none | refused with an alert |
 * | any other TLS | decrypted with a certificate for the name, else for the address; HTTP/1.1 |
 * | HTTP, HTTP/2 without TLS | relayed |
 * | something else, or nothing for 300 ms where its server is known | handed on unread |
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { TLSSocket } from "node:tls"
import type { CapturedRequest, TunnelReason } from "../CaptureSink.ts"
import type { Hello } from "./ClientHello.ts"
import { Exchange, type Recording } from "./Exchange.ts"
import { sniff, type Spoken } from "./FirstBytes.ts"
import { h2, type Http2 } from "./Http2.ts"
import { joinHttp2, OpenStreams } from "./Http2Relay.ts"
import { maxHeadBytes, relay, refuseUpgrade, relayUpgrade, type Destination } from "./HttpRelay.ts"
import { IdleSockets } from "./IdleSockets.ts"
import type { LeafCertificates } from "./LeafCertificates.ts"
import type { Dialled, Origin } from "./Origin.ts"
import { DialFailed } from "./Origin.ts"
import type { Refusals, Refuser } from "./Refusals.ts"
import { valueOf } from "./RelayedHeaders.ts"
import { ServerLink, type ServerTls } from "./ServerLink.ts"
import { tunnel } from "./Tunnel.ts"

/** Facts about the connection that a request came over. */
export interface ConnectionFacts {
  readonly origin: Origin
  readonly scheme: "http" | "https"
  readonly serverName: string | null
}

export interface ListenerOptions {
  readonly recording: Recording
  readonly http2: Http2
  readonly leaves: LeafCertificates
  readonly serverTls: ServerTls
  readonly refusals: Refusals
  /** Checks a host that is never decrypted; called for every connection, with a name or an address. */
  readonly isNeverDecrypted: (host: string) => boolean
  /** `MITM_IDLE_TIMEOUT_MS`. */
  readonly idleTimeoutMs: number
  /**
   * Answers a request in place of the server; false: it is none of its own, and nothing was done with it. It may also call `passOn` later,
   * when it has looked at the body and put it back. Null: there is nothing of the kind.
   */
  readonly intercept:
    | ((request: IncomingMessage, response: ServerResponse, facts: ConnectionFacts, passOn: () => void) => boolean)
    | null
  /**
   * Decides whether a client that asks for another protocol (WebSocket) is to use HTTP, which `intercept` can answer;
   * absent: all may.
   */
  readonly refusesUpgrade?: (request: IncomingMessage, facts: ConnectionFacts) => boolean
  /** Checks whether `intercept` may answer requests to a host: it reads HTTP/1.1, so clients that also speak that get it. Absent: it answers for none. */
  readonly needsHttp1?: (host: string) => boolean
}

export interface Listener {
  /** Takes a socket over. */
  readonly accept: (socket: Socket, origin: Origin) => void
  /** Returns the number of connections of clients. */
  readonly connections: () => number
  /** Ends all connections; returns how many of clients there were. Nothing is accepted any more. */
  readonly close: () => number
}

/** A client beyond these is refused. */
export const maxConnections = 4_096

/** Fatal, `unrecognized_name` (RFC 8446, 6), as a record of its own. */
const unrecognizedName = Buffer.from([21, 3, 3, 0, 2, 2, 112])

/** OpenSSL's words for the alerts `bad_certificate`, `certificate_unknown` and `unknown_ca`. */
const refusing = new Set([
  "ERR_SSL_SSLV3_ALERT_BAD_CERTIFICATE",
  "ERR_SSL_SSLV3_ALERT_CERTIFICATE_UNKNOWN",
  "ERR_SSL_TLSV1_ALERT_UNKNOWN_CA"
])

const http1 = "http/1.1"

/** Number of a client's requests: a client without any may have refused the certificate. */
interface Counted {
  readonly record: RecordOfConnection
  requests: number
}

interface Served extends ConnectionFacts, Counted {
  readonly link: ServerLink
  /** Null where the client speaks no TLS. */
  readonly refuser: Refuser | null
}

type RecordOfConnection = Omit<CapturedRequest, "startedAtMs" | "headers" | "method" | "path" | "httpVersion">

/** Result of asking the server before its client is answered. */
interface Asked {
  /** That both will speak. */
  readonly protocol: string
  /** The connection to the server, or why there is none. */
  readonly server: Dialled
  /** The client speaks HTTP/1.1 as well. */
  readonly takesHttp1: boolean
}

/** A connection over which nothing was asked yet ends with its other side. */
const endsAlone = (server: Dialled): void => {
  if (!(server instanceof DialFailed)) server.once("end", endUnused)
}
const inUse = (server: Socket): void => void server.off("end", endUnused)
function endUnused(this: Socket): void {
  this.destroy()
}

const discard = (server: Dialled): void => {
  if (!(server instanceof DialFailed)) server.destroy()
}

/** Returns the protocol that a server chose in its handshake; null: none. */
const chosenBy = (server: Socket): string | null =>
  server instanceof TLSSocket && typeof server.alpnProtocol === "string" ? server.alpnProtocol : null

/** OpenSSL's word for the alert `no_application_protocol`. */
const noProtocol = "ERR_SSL_TLSV1_ALERT_NO_APPLICATION_PROTOCOL"

export const makeListener = ({
  http2,
  idleTimeoutMs,
  intercept,
  isNeverDecrypted,
  leaves,
  needsHttp1,
  recording,
  refusals,
  refusesUpgrade,
  serverTls
}: ListenerOptions): Listener => {
  const { timers } = recording
  const clients = new IdleSockets(timers, idleTimeoutMs)
  const servers = new IdleSockets(timers, idleTimeoutMs)
  const served = new WeakMap<Socket, Served>()
  const streams = new OpenStreams()
  let isClosed = false

  const recordOf = (
    socket: Socket,
    origin: Origin,
    scheme: "http" | "https",
    serverName: string | null
  ): RecordOfConnection => {
    const name = serverName ?? origin.name
    return {
      ...origin.labelOf(name),
      scheme,
      host: name ?? origin.address ?? "",
      serverName,
      client: { address: socket.remoteAddress ?? "", port: socket.remotePort ?? 0 },
      server: { address: origin.address ?? socket.localAddress ?? "", port: origin.port }
    }
  }

  /** An entry without an exchange: something the operator should know of. */
  const tell = (record: RecordOfConnection, code: string, message: string): void =>
    new Exchange(recording, { ...record, method: "CONNECT", path: "", httpVersion: null, headers: [] }).end({
      code,
      message
    })

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

  /** Makes connections to the server for a client's connection, with TLS where the client spoke it. */
  const opener = (
    origin: Origin,
    scheme: "http" | "https",
    serverName: string | null,
    protocols: ReadonlyArray<string> = [http1]
  ) => {
    const name = serverName ?? origin.name
    return (done: (dialled: Dialled) => void): void =>
      origin.dial(name, (dialled) => {
        if (dialled instanceof DialFailed) return done(dialled)
        servers.watch(dialled)
        if (scheme === "http") return done(dialled)
        serverTls.handshake(dialled, { serverName: name, verified: name ?? origin.address ?? "", protocols }, done)
      })
  }

  /** The first connection is there already, where it still stands. */
  const openedFirst = (dialled: Dialled, open: (done: (dialled: Dialled) => void) => void) => {
    let first: Dialled | null = dialled
    return (done: (dialled: Dialled) => void): void => {
      const taken = first
      first = null
      if (taken === null || (!(taken instanceof DialFailed) && taken.destroyed)) return open(done)
      if (!(taken instanceof DialFailed)) inUse(taken)
      queueMicrotask(() => done(taken))
    }
  }

  const serve = (
    socket: Socket,
    below: Socket,
    origin: Origin,
    scheme: "http" | "https",
    serverName: string | null,
    refuser: Refuser | null,
    dialled: Dialled | null = null
  ): Served => {
    const open = opener(origin, scheme, serverName)
    const link = new ServerLink(dialled === null ? open : openedFirst(dialled, open), () => socket.destroySoon())
    const facts: Served = {
      origin,
      scheme,
      serverName,
      link,
      record: recordOf(below, origin, scheme, serverName),
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

  const handOn = (socket: Socket, origin: Origin, hello: Hello | null, reason: TunnelReason): void => {
    const serverName = hello?.serverName ?? null
    tunnel(
      recording,
      socket,
      recordOf(socket, origin, hello === null ? "http" : "https", serverName),
      reason,
      opener(origin, "http", serverName)
    )
  }

  const refused = (facts: Counted, isNews: boolean): void => {
    if (isNews) {
      tell(
        facts.record,
        "CLIENT_REFUSED_CA",
        "The client does not trust the certificate authority. Its connections to this host are tunnelled for a while."
      )
    }
  }

  /** As `serve`, over HTTP/2. */
  const serveHttp2 = (
    socket: Socket,
    below: Socket,
    origin: Origin,
    scheme: "http" | "https",
    serverName: string | null,
    { server, takesHttp1 }: Asked
  ): Counted => {
    const facts: Counted = { record: recordOf(below, origin, scheme, serverName), requests: 0 }
    const host = serverName ?? origin.name
    const join = (): void => {
      joinHttp2(socket, {
        http2,
        recording,
        streams,
        server,
        record: facts.record,
        spoken: () => void (facts.requests += 1),
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

  const decrypt = (
    socket: Socket,
    origin: Origin,
    serverName: string | null,
    refuser: Refuser,
    asked: Asked | null
  ): void => {
    const { host } = refuser
    const start = (secureContext: ReturnType<LeafCertificates["held"]>): void => {
      if (secureContext === null || socket.destroyed) return void socket.destroy()
      const protocol = asked?.protocol ?? http1
      const tls = new TLSSocket(socket, { isServer: true, secureContext, ALPNProtocols: [protocol] })
      const facts =
        asked !== null && protocol === h2
          ? serveHttp2(tls, socket, origin, "https", serverName, asked)
          : serve(tls, socket, origin, "https", serverName, refuser, asked?.server ?? null)
      let failure: string | undefined
      tls.on("error", (error: NodeJS.ErrnoException) => {
        failure ??= error.code
        tls.destroy()
      })
      tls.once("close", () => {
        socket.destroy()
        if (facts.requests > 0 || isClosed) return
        if (failure === undefined) refused(facts, refusals.endedSilently(refuser, timers.nowMs()))
        else if (refusing.has(failure)) refused(facts, refusals.alerted(refuser, timers.nowMs()))
      })
    }
    if (asked !== null) socket.once("close", () => discard(asked.server))
    const nowMs = timers.nowMs()
    const held = leaves.held(host, nowMs)
    if (held !== null) return start(held)
    leaves.contextFor(host, nowMs).then(start, () => start(null))
  }

  /** Asks the server which of the client's protocols it speaks. A client gets HTTP/2 only where the server has agreed to it. */
  const askServer = (socket: Socket, origin: Origin, hello: Hello, refuser: Refuser): void => {
    const offered = hello.protocols.filter((protocol) => protocol === h2 || protocol === http1)
    const takesHttp1 = offered.includes(http1)
    opener(
      origin,
      "https",
      hello.serverName,
      offered
    )((server) => {
      if (socket.destroyed) return discard(server)
      const chosen = server instanceof DialFailed ? null : chosenBy(server)
      const isUnspoken = server instanceof DialFailed ? server.code === noProtocol : chosen !== h2
      if (!takesHttp1 && isUnspoken) {
        discard(server)
        return handOn(socket, origin, hello, "http2_only")
      }
      const protocol = chosen === h2 || !takesHttp1 ? h2 : http1
      endsAlone(server)
      decrypt(socket, origin, hello.serverName, refuser, { protocol, server, takesHttp1 })
    })
  }

  const onHello = (socket: Socket, origin: Origin, hello: Hello): void => {
    const host = hello.serverName ?? origin.name ?? origin.address
    if (host === null) {
      tell(recordOf(socket, origin, "https", null), "NO_SERVER_NAME", "The client named no server.")
      return void socket.destroy()
    }
    if (isNeverDecrypted(host)) return handOn(socket, origin, hello, "never_decrypt")
    const refuser = { host, client: hello.client }
    if (refusals.isTunnelled(refuser, timers.nowMs())) return handOn(socket, origin, hello, "client_refused")
    const takesHttp1 = hello.protocols.length === 0 || hello.protocols.includes(http1)
    if (hello.protocols.includes(h2) && !(takesHttp1 && needsHttp1?.(host) === true))
      return askServer(socket, origin, hello, refuser)
    if (!takesHttp1) return handOn(socket, origin, hello, "not_http")
    decrypt(socket, origin, hello.serverName, refuser, null)
  }

  /** HTTP/2 without TLS: there is nothing to agree on. */
  const passHttp2 = (socket: Socket, origin: Origin): void =>
    opener(
      origin,
      "http",
      null
    )((server) => {
      if (socket.destroyed) return discard(server)
      socket.once("close", () => discard(server))
      serveHttp2(socket, socket, origin, "http", null, { protocol: h2, server, takesHttp1: false })
    })

  const onBadName = (socket: Socket, origin: Origin): void => {
    tell(recordOf(socket, origin, "https", null), "BAD_SERVER_NAME", "The client's server name is no host name.")
    socket.end(unrecognizedName)
    socket.destroySoon()
  }

  const accept = (socket: Socket, origin: Origin): void => {
    if (isClosed || clients.size >= maxConnections) return void socket.destroy()
    clients.watch(socket)
    const onError = (): void => void socket.destroy()
    socket.setNoDelay(true)
    socket.on("error", onError)
    const known = origin.name ?? origin.address
    const onSpoken = (spoken: Spoken): void => {
      switch (spoken._tag) {
        case "Gone":
          return void socket.destroy()
        case "BadName":
          return onBadName(socket, origin)
        case "Hello":
          return onHello(socket, origin, spoken)
        case "Other":
          return handOn(socket, origin, null, "not_http")
        case "Http":
          if (known !== null && isNeverDecrypted(known)) return handOn(socket, origin, null, "never_decrypt")
          return void serve(socket, socket, origin, "http", null, null)
        case "Http2":
          if (known !== null && isNeverDecrypted(known)) return handOn(socket, origin, null, "never_decrypt")
          return passHttp2(socket, origin)
      }
    }
    // A server without a name or an address is not known before the client speaks, however early it connects.
    sniff(socket, timers, onSpoken, known === null ? null : undefined)
  }

  return {
    accept,
    connections: () => clients.size,
    close: () => {
      isClosed = true
      servers.destroyAll()
      return clients.destroyAll()
    }
  }
}
