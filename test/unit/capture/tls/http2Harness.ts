/** Clients and servers of HTTP/2 around the listener, with real sockets. */
import { once } from "node:events"
import {
  type ClientHttp2Session,
  type ClientHttp2Stream,
  connect,
  createSecureServer,
  createServer,
  type Http2SecureServer,
  type IncomingHttpHeaders,
  type OutgoingHttpHeaders,
  type ServerHttp2Session,
  type ServerHttp2Stream,
  type SecureServerOptions
} from "node:http2"
import { type AddressInfo, connect as connectTcp } from "node:net"
import { connect as connectTls, type TLSSocket } from "node:tls"
import { frame, frameTypes, preface } from "./frames.ts"
import { sharedAuthorities, type World } from "./harness.ts"

export interface Http2Server {
  readonly port: number
  readonly sessions: ReadonlyArray<ServerHttp2Session>
  readonly close: () => void
}

export type OnStream = (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, raw: ReadonlyArray<string>) => void

/** A server of the internet that speaks HTTP/2, and HTTP/1.1 where the options say so. */
export const http2Server = async (
  name: string,
  onStream: OnStream,
  options: SecureServerOptions = {},
  signer: "internet" | "stranger" = "internet",
  adapt: (server: Http2SecureServer) => void = () => {}
): Promise<Http2Server> => {
  const { [signer]: made } = await sharedAuthorities()
  const { certificate } = await made.authority.issue(name, made.key, Date.now())
  const server = createSecureServer({
    cert: certificate,
    key: made.key.export({ type: "pkcs8", format: "pem" }),
    ...options
  })
  return running(server, onStream, adapt)
}

/** The same without TLS. */
export const plainHttp2Server = async (onStream: OnStream): Promise<Http2Server> => running(createServer(), onStream)

const running = async <Server extends Http2SecureServer | ReturnType<typeof createServer>>(
  server: Server,
  onStream: OnStream,
  adapt: (server: Server) => void = () => {}
): Promise<Http2Server> => {
  const sessions: Array<ServerHttp2Session> = []
  server.on("session", (session: ServerHttp2Session) => {
    session.on("error", () => {})
    sessions.push(session)
  })
  server.on("stream", (stream: ServerHttp2Stream, headers: IncomingHttpHeaders, _flags: number, raw: Array<string>) => {
    stream.on("error", () => {})
    onStream(stream, headers, raw)
  })
  server.on("sessionError", () => {})
  adapt(server)
  server.listen(0, "127.0.0.1")
  await once(server, "listening")
  return {
    port: (server.address() as AddressInfo).port,
    sessions,
    close: () => {
      server.close()
      for (const session of sessions) session.destroy()
    }
  }
}

export interface Client {
  readonly session: ClientHttp2Session
  /** Ends the connection below. */
  readonly cut: () => void
  readonly close: () => void
}

/** A client of HTTP/2 through the front; `protocols`: what it offers. */
export const http2Client = (
  { ca, port }: Pick<World, "ca" | "port">,
  name: string,
  protocols: ReadonlyArray<string> = ["h2", "http/1.1"],
  options: Parameters<typeof connect>[1] = {}
): Client => {
  const tls = connectTls({ host: "127.0.0.1", port, servername: name, ca, ALPNProtocols: [...protocols] })
  const session = connect(`https://${name}`, { ...options, createConnection: () => tls })
  session.on("error", () => {})
  return { session, cut: () => tls.destroy(), close: () => session.destroy() }
}

/** A client that knows that its server speaks HTTP/2, without TLS. */
export const plainHttp2Client = (port: number, host: string): Client => {
  const tcp = connectTcp({ host: "127.0.0.1", port })
  const session = connect(`http://${host}`, { createConnection: () => tcp })
  session.on("error", () => {})
  return { session, cut: () => tcp.destroy(), close: () => session.destroy() }
}

export interface Http2Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly trailers: IncomingHttpHeaders
  readonly body: string
  /** What the stream was reset with; 0: it ended well. */
  readonly rstCode: number
  readonly error: NodeJS.ErrnoException | null
}

/** The answer of a stream, however it ends. */
export const answerOf = (stream: ClientHttp2Stream): Promise<Http2Answer> =>
  new Promise((resolve) => {
    let headers: IncomingHttpHeaders & { ":status"?: number | undefined } = {}
    let trailers: IncomingHttpHeaders = {}
    let error: NodeJS.ErrnoException | null = null
    const chunks: Array<Buffer> = []
    stream
      .on("response", (given) => (headers = given))
      .on("trailers", (given) => (trailers = given))
      .on("data", (chunk: Buffer) => chunks.push(chunk))
      .on("error", (cause) => (error = cause))
      .once("close", () =>
        resolve({
          status: headers[":status"] ?? 0,
          headers,
          trailers,
          body: Buffer.concat(chunks).toString("utf8"),
          rstCode: stream.rstCode ?? 0,
          error
        })
      )
  })

/** One request. */
export const ask = (
  { session }: Pick<Client, "session">,
  headers: OutgoingHttpHeaders,
  body: string | Buffer | null = null
): Promise<Http2Answer> => {
  const stream = session.request(headers, { endStream: body === null })
  if (body !== null) stream.end(body)
  return answerOf(stream)
}

/** An error before it is nothing that a test looks at. */
export const closed = (emitter: NodeJS.EventEmitter): Promise<void> => {
  emitter.on("error", () => {})
  return new Promise((done) => emitter.once("close", () => done()))
}

/** A client that sends what no library would. */
export const rawClient = async (world: Pick<World, "ca" | "port">, name: string): Promise<TLSSocket> => {
  const tls = connectTls({
    host: "127.0.0.1",
    port: world.port,
    servername: name,
    ca: world.ca,
    ALPNProtocols: ["h2"]
  })
  tls.on("error", () => {})
  await once(tls, "secureConnect")
  tls.write(Buffer.concat([preface, frame(frameTypes.settings, 0, 0, Buffer.alloc(0))]))
  return tls
}
