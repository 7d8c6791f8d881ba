/** Reports of a capture source about one exchange. It never waits: the receiver must return at once. */

export type CaptureSource = "agent-bridge" | "custom-host" | "http-proxy" | "system-proxy" | "tproxy"

/** Names and values in turn, as they came over the wire. */
export type RawHeaders = ReadonlyArray<string>

export interface Endpoint {
  readonly address: string
  readonly port: number
}

export interface CapturedRequest {
  readonly source: CaptureSource
  /** The agent whose host this is; null where it is none's. */
  readonly agent: string | null
  /** Epoch milliseconds. */
  readonly startedAtMs: number
  readonly method: string
  readonly scheme: "http" | "https" | "ws" | "wss"
  /** Host as the request names it: the `Host` header, else the server's name or address. */
  readonly host: string
  /** The name of the TLS handshake; null without one. It differs from `host` where a client fronts one domain by another. */
  readonly serverName: string | null
  readonly path: string
  /** Version, such as `HTTP/1.1`; null where it is not HTTP, or was not read. */
  readonly httpVersion: string | null
  readonly headers: RawHeaders
  /** The client's own end, by which its process can be found. */
  readonly client: Endpoint
  /** Endpoint that the client connected to, as it sees it. */
  readonly server: Endpoint
}

export interface CapturedHead {
  readonly status: number
  readonly headers: RawHeaders
  /** Time since the request began, in milliseconds. */
  readonly afterMs: number
}

/** A copy of a body as it went over the wire, still encoded. `chunks` end at the limit, `bytes` is all that went by. */
export interface CapturedBody {
  readonly chunks: ReadonlyArray<Buffer>
  readonly bytes: number
}

export interface CapturedEnd {
  /** Null where there was none, such as behind a tunnel. */
  readonly head: CapturedHead | null
  readonly requestBody: CapturedBody
  readonly responseBody: CapturedBody
  /** Times since the request began, in milliseconds. `sentMs`: when the connection to the server was established. */
  readonly sentMs: number | null
  readonly totalMs: number
  /** Null: it ended well. `code` is Node's or OpenSSL's word for it. */
  readonly error: { readonly code: string; readonly message: string } | null
  /** Reason for which it was passed on unread; null for an exchange that was read. */
  readonly tunnelled: TunnelReason | null
}

export type TunnelReason =
  /** The host is on the list of those that are never decrypted. */
  | "never_decrypt"
  /** The client does not trust the certificate authority. */
  | "client_refused"
  /** The client speaks nothing but HTTP/2, and the server does not. */
  | "http2_only"
  /** Neither TLS nor HTTP, or a server that speaks first. */
  | "not_http"
  /** The proxy decrypts nothing. */
  | "not_enabled"

export interface CaptureSink {
  /** An id for the two others. */
  readonly begin: (request: CapturedRequest) => string
  /** The head of the answer has come. */
  readonly update: (id: string, head: CapturedHead) => void
  /** Ends an exchange; called once for each id. */
  readonly finish: (id: string, end: CapturedEnd) => void
}

export const noBody: CapturedBody = { chunks: [], bytes: 0 }

/** Copies the beginning of a body as it passes. Hot: the chunks are referenced, never copied or joined. */
export class BodyCopy implements CapturedBody {
  readonly chunks: Array<Buffer> = []
  bytes = 0
  #room: number

  constructor(maxBytes: number) {
    this.#room = maxBytes
  }

  add(chunk: Buffer): void {
    this.bytes += chunk.length
    if (this.#room === 0) return
    const kept = chunk.length <= this.#room ? chunk : chunk.subarray(0, this.#room)
    this.#room -= kept.length
    this.chunks.push(kept)
  }
}
