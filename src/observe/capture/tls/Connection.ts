/** A client's connection to the listener: what is recorded of it, and how its server is reached. */
import type { Socket } from "node:net"
import type { IncomingMessage, ServerResponse } from "node:http"
import { type Origin, type Dialled, DialFailed } from "./Origin.ts"
import type { CapturedRequest } from "../CaptureSink.ts"
import { type Recording, Exchange } from "./Exchange.ts"
import type { IdleSockets } from "./IdleSockets.ts"
import type { ServerTls } from "./ServerLink.ts"
import type { Http2 } from "./Http2.ts"
import type { LeafCertificates } from "./LeafCertificates.ts"
import type { Refusals } from "./Refusals.ts"

export const http1 = "http/1.1"

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

/** A client's connection whose first bytes are known. */
export interface Connection extends ConnectionFacts {
  /** Socket with the client's bytes; with TLS, the decrypted ones. */
  readonly socket: Socket
  /** Socket that was accepted; the same where the client speaks no TLS. */
  readonly below: Socket
}

export type RecordOfConnection = Omit<CapturedRequest, "startedAtMs" | "headers" | "method" | "path" | "httpVersion">

export const recordOf = ({ below, origin, scheme, serverName }: Omit<Connection, "socket">): RecordOfConnection => {
  const name = serverName ?? origin.name
  return {
    ...origin.labelOf(name),
    scheme,
    host: name ?? origin.address ?? "",
    serverName,
    client: { address: below.remoteAddress ?? "", port: below.remotePort ?? 0 },
    server: { address: origin.address ?? below.localAddress ?? "", port: origin.port }
  }
}

/** Adds an entry without an exchange: something the operator should know of. */
export const tell = (recording: Recording, record: RecordOfConnection, code: string, message: string): void =>
  new Exchange(recording, { ...record, method: "CONNECT", path: "", httpVersion: null, headers: [] }).end({
    code,
    message
  })

/** Makes a connection to the server of a client's connection. */
export type Open = (done: (dialled: Dialled) => void) => void

/** Opens connections with TLS where the client spoke it. */
export const makeOpener =
  (servers: IdleSockets, serverTls: ServerTls) =>
  ({ origin, scheme, serverName }: ConnectionFacts, protocols: ReadonlyArray<string> = [http1]): Open => {
    const name = serverName ?? origin.name
    return (done: (dialled: Dialled) => void): void =>
      origin.dial(name, (dialled) => {
        if (dialled instanceof DialFailed) return done(dialled)
        servers.watch(dialled)
        if (scheme === "http") return done(dialled)
        serverTls.handshake(dialled, { serverName: name, verified: name ?? origin.address ?? "", protocols }, done)
      })
  }

export type Opener = ReturnType<typeof makeOpener>

/** The first connection is there already, where it still stands. */
export const openedFirst = (dialled: Dialled, open: Open): Open => {
  let first: Dialled | null = dialled
  return (done: (dialled: Dialled) => void): void => {
    const taken = first
    first = null
    if (taken === null || (!(taken instanceof DialFailed) && taken.destroyed)) return open(done)
    if (!(taken instanceof DialFailed)) inUse(taken)
    queueMicrotask(() => done(taken))
  }
}

/** A connection over which nothing was asked yet ends with its other side. */
export const endsAlone = (server: Dialled): void => {
  if (!(server instanceof DialFailed)) server.once("end", endUnused)
}
const inUse = (server: Socket): void => void server.off("end", endUnused)
function endUnused(this: Socket): void {
  this.destroy()
}

export const discard = (server: Dialled): void => {
  if (!(server instanceof DialFailed)) server.destroy()
}
