/**
 * Opens sockets under the outbound policy. A name is resolved once, every address is checked, the socket connects only to checked
 * addresses, and the address it reached is checked again before TLS starts or a byte is sent. So neither a literal nor a second DNS
 * answer gets around the policy.
 */
import type * as Context from "effect/Context"
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net"
import { connect as connectTls } from "node:tls"
import type { Timers } from "../platform/Timers.ts"
import type { Dns } from "./Dns.ts"
import { judgeAddress, judgeHost, type OutboundPolicy } from "./OutboundPolicy.ts"
import {
  connectFailureKind,
  transportFailure,
  type TransportFailure,
  type TransportFailureKind
} from "./TransportFailure.ts"

export interface ConnectorOptions {
  readonly dns: Context.Tag.Service<Dns>
  readonly timers: Context.Tag.Service<Timers>
  /** Read for every connection. */
  readonly policy: () => OutboundPolicy
  /** For resolving, TCP and TLS together; read for every connection. */
  readonly connectTimeoutMs: () => number
}

export interface ConnectListener {
  readonly onSocket: (socket: Socket) => void
  readonly onFail: (failure: TransportFailure) => void
}

/** Starts one connection and returns what cancels it; exactly one method of the listener runs, never before this returns. */
export type Connect = (listener: ConnectListener) => () => void

/** One address gets this long before the next one is tried beside it. */
const addressAttemptMs = 500
const tcpKeepAliveMs = 60_000

/**
 * The HTTP parser treats a reset as the end of a body without an announced length, and throws from an event handler when it is paused
 * at that moment. With its own code for dead sockets it does neither.
 */
const markReset = (error: NodeJS.ErrnoException): void => {
  if (error.code === "ECONNRESET") error.code = "UND_ERR_SOCKET"
}

/** A `lookup` for the socket that returns the checked addresses. */
const lookupOf =
  (addresses: ReadonlyArray<string>): LookupFunction =>
  (_hostname, _options, callback) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: isIP(address) }))
    )

/** A connector for one origin; it keeps the origin's last TLS session for quicker handshakes. */
export const makeConnector = (origin: URL, options: ConnectorOptions): Connect => {
  const hostname = origin.hostname.replace(/^\[(.*)\]$/, "$1")
  const secure = origin.protocol === "https:"
  const port = origin.port === "" ? (secure ? 443 : 80) : Number(origin.port)
  let session: Buffer | undefined

  const isBlocked = (address: string, policy: OutboundPolicy): boolean =>
    judgeAddress(address, policy)._tag === "Blocked"

  const judgedAddresses = async (policy: OutboundPolicy): Promise<ReadonlyArray<string> | TransportFailureKind> => {
    if (judgeHost(hostname, policy)._tag === "Blocked") return "blocked"
    if (isIP(hostname) !== 0) return [hostname]
    try {
      const addresses = await options.dns.resolve(hostname)
      // One forbidden address blocks the name: which of them would be reached is up to chance or to an attacker.
      if (addresses.some((address) => isBlocked(address, policy))) return "blocked"
      return addresses.length === 0 ? "dns" : addresses
    } catch {
      return "dns"
    }
  }

  return (listener) => {
    const policy = options.policy()
    let socket: Socket | null = null
    let settled = false

    const fail = (kind: TransportFailureKind): void => {
      if (settled) return
      settled = true
      timer.cancel()
      socket?.destroy()
      listener.onFail(transportFailure(kind))
    }
    const succeed = (connected: Socket): void => {
      if (settled) return
      settled = true
      timer.cancel()
      listener.onSocket(connected)
    }
    const timer = options.timers.after(options.connectTimeoutMs(), () => fail("connect_timeout"))

    const handshake = (tcp: Socket): void => {
      const tls = connectTls({
        socket: tcp,
        host: hostname,
        servername: isIP(hostname) === 0 ? hostname : "",
        ALPNProtocols: ["http/1.1"],
        ...(session === undefined ? {} : { session })
      })
      socket = tls
      tls
        .on("error", (error: NodeJS.ErrnoException) => {
          fail("tls")
          markReset(error)
        })
        .on("session", (ticket) => {
          session = ticket
        })
        .once("secureConnect", () => succeed(tls))
    }

    const open = (addresses: ReadonlyArray<string>): void => {
      const tcp = connectTcp({
        host: hostname,
        port,
        lookup: lookupOf(addresses),
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: addressAttemptMs,
        keepAlive: true,
        keepAliveInitialDelay: tcpKeepAliveMs,
        noDelay: true
      })
      socket = tcp
      tcp
        .on("error", (error: NodeJS.ErrnoException) => {
          fail(connectFailureKind(error.code))
          markReset(error)
        })
        .once("connect", () => {
          if (isBlocked(tcp.remoteAddress ?? "", policy)) return fail("blocked")
          return secure ? handshake(tcp) : succeed(tcp)
        })
    }

    const start = async (): Promise<void> => {
      const found = await judgedAddresses(policy)
      if (settled) return
      if (typeof found === "string") fail(found)
      else open(found)
    }
    void start()
    return () => fail("other")
  }
}
