/**
 * Joins a client's connection of HTTP/2 with one to its server: each stream of the one is a stream of the other, with head, body, trailers and reset
 * as they came and with back-pressure. What goes by is copied for the record up to a bound, as `HttpRelay` does it.
 */
import type {
  ClientHttp2Session,
  ClientHttp2Stream,
  OutgoingHttpHeaders,
  ServerHttp2Session,
  ServerHttp2Stream
} from "node:http2"
import { isIP, type Socket } from "node:net"
import type { CapturedEnd, CapturedRequest, RawHeaders } from "../CaptureSink.ts"
import { Exchange, type Recording } from "./Exchange.ts"
import type { Http2 } from "./Http2.ts"
import { type Http2Headers, relayStream } from "./Http2Exchange.ts"
import { bytesOf, headersOf, recordedHeaders } from "./Http2Headers.ts"
import { maxHeadBytes } from "./HttpRelay.ts"
import { type Dialled, DialFailed } from "./Origin.ts"
import { valueOf } from "./RelayedHeaders.ts"
import { ResetBudget } from "./ResetBudget.ts"

export const http2Limits = {
  /** Requests of one connection at once. Those beyond it are refused in a way that says that they can be asked again. */
  streams: 128,
  /** Requests of all connections at once. */
  allStreams: 2_048,
  headerBytes: maxHeadBytes,
  /** Most headers: as many as Node takes over HTTP/1.1. */
  headers: 2_000,
  /** Flow-control window of a stream in bytes: most that is sent before it is read. */
  windowBytes: 256 * 1_024,
  /** The same of a connection. */
  connectionWindowBytes: 1_048_576
}

/** Requests under way, of all connections. */
export class OpenStreams {
  count = 0
}

export interface Http2Connection {
  readonly http2: Http2
  readonly recording: Recording
  readonly streams: OpenStreams
  /** The connection to the server, or why there is none. */
  readonly server: Dialled
  readonly record: Omit<CapturedRequest, "startedAtMs" | "headers" | "method" | "path" | "httpVersion">
  /** The client has spoken: it takes the certificate. */
  readonly onSettings: () => void
  /** Asked with each request: the client has to come again with HTTP/1.1. */
  readonly needsHttp1: () => boolean
}

const httpVersion = "HTTP/2"
const notAllowed = 405
const tooLong = 431
const plainText = "text/plain; charset=utf-8"

const authorityOf = (host: string, scheme: string): string => {
  const text = `${scheme}://${isIP(host) === 6 ? `[${host}]` : host}`
  return URL.canParse(text) ? text : `${scheme}://invalid`
}

/** The server may have left while its client's handshake was under way. */
const stillThere = (server: Dialled): Dialled =>
  server instanceof DialFailed || !server.destroyed
    ? server
    : new DialFailed("ECONNRESET", "The server ended the connection before it was asked anything.")

const heads = {
  maxHeaderListPairs: http2Limits.headers,
  maxSendHeaderBlockLength: 2 * maxHeadBytes
}

const settings = {
  enablePush: false,
  maxHeaderListSize: http2Limits.headerBytes,
  initialWindowSize: http2Limits.windowBytes
}

type RefusalReason = NonNullable<CapturedEnd["error"]>

const headTooLong: RefusalReason = { code: "HPE_HEADER_OVERFLOW", message: "The request's head is too long." }
const tunnelRefused: RefusalReason = { code: "CONNECT_REFUSED", message: "A tunnel inside of TLS is not passed on." }
const badHead: RefusalReason = {
  code: "ERR_INVALID_CHAR",
  message: "The request has a head that cannot be passed on."
}

/** A client's connection, and the one to its server. */
class JoinedConnections {
  readonly #connection: Http2Connection
  readonly #client: Socket
  readonly #dialled: Dialled
  readonly #constants: Http2["constants"]
  readonly #server: ClientHttp2Session | null
  readonly #session: ServerHttp2Session
  readonly #resets: ResetBudget
  /** Streams that were not taken back by the client, or are counted as that. */
  readonly #settled = new WeakSet<ServerHttp2Stream>()

  constructor(client: Socket, connection: Http2Connection) {
    const { http2, record, recording } = connection
    const dialled = stillThere(connection.server)
    this.#connection = connection
    this.#client = client
    this.#dialled = dialled
    this.#constants = http2.constants
    this.#resets = new ResetBudget(recording.timers.monotonicMs())
    this.#server =
      dialled instanceof DialFailed
        ? null
        : http2.connect(authorityOf(record.host, record.scheme), {
            ...heads,
            settings,
            createConnection: () => dialled
          })
    this.#session = http2.performServerHandshake(client, {
      ...heads,
      settings: { ...settings, maxConcurrentStreams: http2Limits.streams }
    })
  }

  start(): void {
    const session = this.#session
    const server = this.#server
    session
      .on("stream", this.#onStream)
      .once("remoteSettings", this.#connection.onSettings)
      .on("error", () => {})
      .once("close", () => {
        this.#client.destroySoon()
        server?.destroy()
      })
    // Frames come both ways: a side that has ended has left.
    for (const side of [this.#client, this.#dialled]) {
      if (!(side instanceof DialFailed)) side.once("end", () => side.destroy())
    }
    if (!session.destroyed) session.setLocalWindowSize(http2Limits.connectionWindowBytes)
    // What is under way goes on; what the client asks from now on it asks over a new connection.
    const end = (): void => {
      if (!session.closed && !session.destroyed) session.close()
    }
    server
      ?.on("error", () => {})
      .once("connect", () => {
        if (!server.destroyed) server.setLocalWindowSize(http2Limits.connectionWindowBytes)
      })
      .on("goaway", end)
      .once("close", end)
  }

  readonly #onStream = (stream: ServerHttp2Stream, headers: Http2Headers, flags: number, raw: RawHeaders): void => {
    const session = this.#session
    // What breaks is told by "close".
    stream.on("error", () => {})
    if (session.destroyed) return
    stream.once("close", () => this.#countReset(stream))
    if (stream.destroyed || stream.closed) return this.#countReset(stream)
    const dialled = this.#dialled
    if (dialled instanceof DialFailed) {
      this.#refuse(stream, dialled.status, dialled, raw)
      // The next one is asked over a new connection.
      return session.close()
    }
    if (this.#connection.needsHttp1()) {
      this.#breakOff(stream, this.#constants.NGHTTP2_REFUSED_STREAM)
      return session.close()
    }
    const server = this.#server
    const { streams } = this.#connection
    if (server === null || server.closed || server.destroyed || streams.count >= http2Limits.allStreams)
      return this.#breakOff(stream, this.#constants.NGHTTP2_REFUSED_STREAM)
    if (bytesOf(raw) > http2Limits.headerBytes) return this.#refuse(stream, tooLong, headTooLong, [])
    if (valueOf(raw, ":method") === "CONNECT") return this.#refuse(stream, notAllowed, tunnelRefused, raw)
    streams.count += 1
    stream.once("close", () => (streams.count -= 1))
    const endStream = (flags & this.#constants.NGHTTP2_FLAG_END_STREAM) !== 0
    let asked: ClientHttp2Stream
    try {
      asked = server.request(this.#copied(headers, raw), { endStream, waitForTrailers: !endStream })
    } catch {
      return this.#refuse(stream, 502, badHead, raw)
    }
    relayStream({
      stream,
      asked,
      serverSocket: dialled,
      exchange: this.#begin(raw),
      constants: this.#constants,
      copied: (copy, rawCopy) => this.#copied(copy, rawCopy),
      breakOff: (broken, code) => this.#breakOff(broken, code)
    })
  }

  /** A client that takes back more than any needs is not answered any longer. */
  #countReset(stream: ServerHttp2Stream): void {
    const session = this.#session
    const { NGHTTP2_ENHANCE_YOUR_CALM, NGHTTP2_NO_ERROR } = this.#constants
    if (this.#settled.has(stream) || stream.rstCode === NGHTTP2_NO_ERROR || session.destroyed) return
    this.#settled.add(stream)
    if (!this.#resets.take(this.#connection.recording.timers.monotonicMs()))
      session.destroy(new Error("Too many requests were taken back."), NGHTTP2_ENHANCE_YOUR_CALM)
  }

  #refuse(stream: ServerHttp2Stream, status: number, error: RefusalReason, raw: RawHeaders): void {
    this.#begin(raw).end(error)
    stream.respond({ ":status": status, "content-type": plainText })
    stream.end(`${error.message}\n`)
    // What is left of the request is not wanted.
    stream.resume()
    if (stream.endAfterHeaders) return
    this.#settled.add(stream)
    stream.close(this.#constants.NGHTTP2_NO_ERROR)
  }

  #breakOff(stream: ServerHttp2Stream, code: number): void {
    if (stream.closed || stream.destroyed) return
    this.#settled.add(stream)
    stream.close(code)
  }

  #begin(raw: RawHeaders): Exchange {
    const { record, recording } = this.#connection
    const method = valueOf(raw, ":method") ?? "GET"
    const host = valueOf(raw, ":authority") ?? valueOf(raw, "host") ?? record.host
    const path = valueOf(raw, ":path") ?? "/"
    return new Exchange(recording, { ...record, host, path, method, httpVersion, headers: recordedHeaders(raw) })
  }

  /** Copies headers with the names that no table may keep (RFC 7541, 7.1.3), as Node gives and takes them. */
  #copied(headers: Http2Headers, raw: RawHeaders): OutgoingHttpHeaders {
    const copy = headersOf(raw)
    const never: symbol = this.#connection.http2.sensitiveHeaders
    const names: unknown = Reflect.get(headers, never)
    if (Array.isArray(names) && names.length > 0) Reflect.set(copy, never, names)
    return copy
  }
}

export const joinHttp2 = (client: Socket, connection: Http2Connection): void =>
  new JoinedConnections(client, connection).start()
