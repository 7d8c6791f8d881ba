/**
 * Reasons for which a call got no complete answer, as a closed set. An HTTP error status is an answer, not a transport failure.
 * Messages name the kind of failure only: they never contain an address, header, body or credential.
 */
import * as Data from "effect/Data"
import { type TlsProblem, tlsReasons } from "./TlsFailure.ts"

export type TransportFailureKind =
  /** Nothing listens at the address, or there is no route to it. */
  | "refused"
  /** The name has no address. */
  | "dns"
  /** The handshake failed or the certificate is not trusted. */
  | "tls"
  /** The connection died: before the first response byte the request may be sent again. */
  | "reset"
  | "connect_timeout"
  /** The outbound policy forbids the address or the URL. */
  | "blocked"
  /** The body ended before its announced length or its last chunk. */
  | "truncated"
  /** The answer is not HTTP/1.1, or its headers are too large. */
  | "protocol"
  /** The proxy of the call cannot be used, or it did not open the tunnel to the upstream. */
  | "proxy"
  /** The proxy has no address of the family it is pinned to. */
  | "proxy_family"
  | "other"

export class TransportFailure extends Data.TaggedError("TransportFailure")<{
  readonly kind: TransportFailureKind
  readonly message: string
  /** The status as which the failure counts for breakers (docs/resilience.md). */
  readonly statusClass: 502 | 504
}> {}

const messages: Readonly<Record<TransportFailureKind, string>> = {
  refused: "The upstream refused the connection.",
  dns: "The upstream's host name could not be resolved.",
  tls: "The TLS handshake with the upstream failed.",
  reset: "The upstream closed the connection before it answered in full.",
  connect_timeout: "The connection to the upstream was not made in time.",
  blocked: "The outbound policy does not allow this address.",
  truncated: "The upstream's answer ended before it was complete.",
  protocol: "The upstream's answer is not valid HTTP.",
  proxy: "The proxy for this call cannot be used. The call was not made another way.",
  proxy_family:
    "The proxy for this call has no address of the IP family it is set to. The call was not made another way.",
  other: "The call to the upstream failed."
}

/** A handshake that failed, with its reason and what helps. */
export const tlsFailure = (problem: TlsProblem): TransportFailure =>
  new TransportFailure({
    kind: "tls",
    message: `${messages.tls.slice(0, -1)}: ${tlsReasons[problem]}`,
    statusClass: 502
  })

export const transportFailure = (kind: TransportFailureKind): TransportFailure =>
  new TransportFailure({ kind, message: messages[kind], statusClass: kind === "connect_timeout" ? 504 : 502 })

/** Finds the reason for which a TCP connection was not made. */
export const connectFailureKind = (code: string | undefined): TransportFailureKind => {
  switch (code) {
    case "ECONNREFUSED":
    case "EHOSTUNREACH":
    case "EHOSTDOWN":
    case "ENETUNREACH":
    case "ENETDOWN":
    case "EADDRNOTAVAIL":
      return "refused"
    case "ETIMEDOUT":
    case "ERR_SOCKET_CONNECTION_TIMEOUT":
      return "connect_timeout"
    case "ECONNRESET":
    case "EPIPE":
      return "reset"
    default:
      return "other"
  }
}

/**
 * Finds the reason for which an established connection gave no complete answer. `responded`: the headers had arrived.
 */
export const exchangeFailure = (error: NodeJS.ErrnoException, responded: boolean): TransportFailure => {
  if (error instanceof TransportFailure) return error
  // The parser's errors carry the bytes it could not read; without any, the connection ended too early.
  if (error.name === "HTTPParserError") {
    return transportFailure(responded && "data" in error && error.data === "" ? "truncated" : "protocol")
  }
  switch (error.code) {
    case "UND_ERR_RES_CONTENT_LENGTH_MISMATCH":
      return transportFailure("truncated")
    case "UND_ERR_HEADERS_OVERFLOW":
      return transportFailure("protocol")
    // With a system call it is a reset; without one the peer closed the connection in an orderly way, but too early.
    case "UND_ERR_SOCKET":
      return transportFailure(responded && error.syscall === undefined ? "truncated" : "reset")
    case "ECONNRESET":
    case "EPIPE":
      return transportFailure("reset")
    default:
      return transportFailure("other")
  }
}
