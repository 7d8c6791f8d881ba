/** Options of a decrypting listener: how it records, which certificates it shows, and which requests are answered in place of a server. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { ConnectionFacts } from "./Connection.ts"
import type { Recording } from "./Exchange.ts"
import type { Http2 } from "./Http2.ts"
import type { LeafCertificates } from "./LeafCertificates.ts"
import type { Refusals } from "./Refusals.ts"
import type { ServerTls } from "./ServerLink.ts"

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
