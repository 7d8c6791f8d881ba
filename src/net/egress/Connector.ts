/**
 * Opens sockets under the outbound policy. A name is resolved once, every address is checked, the socket connects only to checked
 * addresses, and the address it reached is checked again before TLS starts or a byte is sent. So neither a literal nor a second DNS
 * answer gets around the policy.
 *
 * With a proxy all this is done to the proxy's address. The target's name goes to the proxy unresolved, so it is judged as it is
 * written. A failed proxy ends the attempt: it is never bypassed.
 */
import type * as Context from "effect/Context"
import * as Redacted from "effect/Redacted"
import { connect as connectTcp, isIP, type LookupFunction, type Socket } from "node:net"
import { connect as connectTls, type ConnectionOptions } from "node:tls"
import type { Transport } from "../../domain/Transport.ts"
import type { Timers } from "../../platform/Timers.ts"
import type { Dns } from "./Dns.ts"
import { connectThrough, type Target } from "./proxy/HttpConnect.ts"
import type { ProxyHop } from "./proxy/ProxyRoute.ts"
import { environmentEgress } from "./proxy/EnvironmentProxy.ts"
import { socksThrough } from "./proxy/Socks.ts"
import { tlsProblemOf } from "./TlsFailure.ts"
import { judgeAddress, judgeHost, type OutboundPolicy } from "./OutboundPolicy.ts"
import { type ConnectMarked, socketMark } from "./SocketMark.ts"
import {
  connectFailureKind,
  tlsFailure,
  transportFailure,
  type TransportFailure,
  type TransportFailureKind
} from "./TransportFailure.ts"

export interface ConnectorOptions {
  readonly dns: Context.Tag.Service<Dns>
  readonly timers: Context.Tag.Service<Timers>
  /** Returns the policy; called for every connection. */
  readonly policy: () => OutboundPolicy
  /** Returns the time limit in ms of resolving, TCP, a proxy and TLS together; called for every connection. */
  readonly connectTimeoutMs: () => number
  /** Proxy; absent: the socket goes to the origin itself. */
  readonly proxy?: ProxyHop
  /** Transport settings; absent: TLS and TCP with the defaults. */
  readonly transport?: Transport
  /** Hands out the socket once the proxy itself is reached; the target is not asked for. */
  readonly endsAtProxy?: boolean
  /**
   * Treatment of a name that the proxy would resolve. `name` (the usual): it is judged as it is written. `checked`: where it resolves
   * here, all its addresses are judged too. `pinned`: it must resolve here, and the proxy gets the address that was judged.
   */
  readonly proxiedName?: "name" | "checked" | "pinned"
  /** Called once per connection that is made through the proxy, with whether the proxy opened the tunnel. */
  readonly onProxy?: (stands: boolean, elapsedMs: number) => void
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

/** A `lookup` for the socket that returns the checked addresses, only the first where one is asked for. */
const lookupOf =
  (addresses: ReadonlyArray<string>): LookupFunction =>
  (_hostname, { all }, callback) => {
    const [first = ""] = addresses
    if (all === true) {
      callback(
        null,
        addresses.map((address) => ({ address, family: isIP(address) }))
      )
    } else callback(null, first, isIP(first))
  }

/** The environment's proxy is the operator's own choice and mostly is in the network around; metadata addresses stay refused. */
const ownNetwork: OutboundPolicy = { allowPrivate: true, allowLoopback: true }

const secureDefaultPort = 443
const plainDefaultPort = 80

const serverName = (host: string): string => (isIP(host) === 0 ? host : "")

const tlsOf = (transport: Transport | undefined): Pick<ConnectionOptions, "ca" | "cert" | "key"> => ({
  ...(transport?.ca == null ? {} : { ca: transport.ca }),
  ...(transport?.certificate == null ? {} : { cert: transport.certificate }),
  ...(transport?.key == null ? {} : { key: Redacted.value(transport.key) })
})

/** A connector for one origin; it keeps the origin's last TLS session for quicker handshakes. */
export const makeConnector = (origin: URL, options: ConnectorOptions): Connect => {
  const { dns, proxy, timers, transport } = options
  const proxiedName = options.proxiedName ?? "name"
  const targetName = transport?.serverName ?? null
  const targetTls = tlsOf(transport)
  const isSecure = origin.protocol === "https:"
  const target: Target = {
    host: origin.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: origin.port === "" ? (isSecure ? secureDefaultPort : plainDefaultPort) : Number(origin.port)
  }
  /** Target of the TCP connection. */
  const hop: Target = proxy ?? target
  const family = proxy?.family ?? 0
  let session: Buffer | undefined

  const isBlocked = (address: string, policy: OutboundPolicy): boolean =>
    judgeAddress(address, policy)._tag === "Blocked"

  /**
   * Kind of failure without an address: a pinned family that the proxy does not have is refused, and so is a name whose
   * family is not known.
   */
  const noAddress: TransportFailureKind = proxy === undefined ? "dns" : family === 0 ? "proxy" : "proxy_family"

  /** Target that the proxy is asked for. */
  let asked: Target = target

  const toldTarget = async (policy: OutboundPolicy): Promise<Target | TransportFailureKind> => {
    try {
      const addresses = await dns.resolve(target.host)
      if (addresses.some((address) => isBlocked(address, policy))) return "blocked"
      const [first] = addresses
      if (proxiedName === "checked" || first === undefined) return target
      return { host: first, port: target.port }
    } catch {
      return proxiedName === "checked" ? target : "dns"
    }
  }

  const judgedAddresses = async (policy: OutboundPolicy): Promise<ReadonlyArray<string> | TransportFailureKind> => {
    if (judgeHost(target.host, policy)._tag === "Blocked") return "blocked"
    const isOwnChoice = proxy?.id === environmentEgress
    if (proxy !== undefined && judgeHost(hop.host, isOwnChoice ? ownNetwork : policy)._tag === "Blocked") return "proxy"
    if (proxy !== undefined && proxiedName !== "name" && isIP(target.host) === 0) {
      const told = await toldTarget(policy)
      if (typeof told === "string") return told
      asked = told
    }
    if (isIP(hop.host) !== 0) return [hop.host]
    try {
      const addresses = await dns.resolve(hop.host)
      // One forbidden address blocks the name: which of them would be reached is up to chance or to an attacker.
      const hopPolicy = isOwnChoice ? ownNetwork : policy
      if (addresses.some((address) => isBlocked(address, hopPolicy))) return proxy === undefined ? "blocked" : "proxy"
      const usable = family === 0 ? addresses : addresses.filter((address) => isIP(address) === family)
      return usable.length === 0 ? noAddress : usable
    } catch {
      return noAddress
    }
  }

  return (listener) => {
    const policy = options.policy()
    const timeoutMs = transport?.connectTimeoutMs ?? options.connectTimeoutMs()
    /** The innermost one; destroying it ends those below. */
    let socket: Socket | null = null
    let settled = false
    let isAborted = false
    /** False until the proxy has opened the tunnel: what fails before that is the proxy's failure. */
    let isThrough = proxy === undefined
    const startedMs = proxy === undefined ? 0 : timers.monotonicMs()

    const fail = (kind: TransportFailureKind, why: TransportFailure | null = null): void => {
      if (settled) return
      settled = true
      timer.cancel()
      if (!isThrough && kind !== "blocked" && !isAborted) options.onProxy?.(false, timers.monotonicMs() - startedMs)
      socket?.destroy()
      const isTargets = isThrough || kind === "blocked" || kind === "dns" || kind === "proxy_family"
      listener.onFail(isTargets ? (why ?? transportFailure(kind)) : transportFailure("proxy"))
    }
    const succeed = (connected: Socket): void => {
      if (settled) return
      settled = true
      timer.cancel()
      listener.onSocket(connected)
    }
    const timer = timers.after(timeoutMs, () => fail("connect_timeout"))

    const secure = (below: Socket, host: string, isTarget: boolean, then: (tls: Socket) => void): void => {
      const tls = connectTls({
        socket: below,
        host: isTarget ? (targetName ?? host) : host,
        servername: isTarget ? (targetName ?? serverName(host)) : serverName(host),
        ALPNProtocols: ["http/1.1"],
        ...(isTarget && session !== undefined ? { session } : {}),
        ...(isTarget ? targetTls : {})
      })
      socket = tls
      tls
        .on("error", (error: NodeJS.ErrnoException) => {
          fail("tls", tlsFailure(tlsProblemOf(error.code)))
          markReset(error)
        })
        .on("session", (ticket) => {
          if (isTarget) session = ticket
        })
        .once("secureConnect", () => then(tls))
    }

    const reachTarget = (tunnel: Socket): void => {
      if (settled) return
      if (!isThrough) options.onProxy?.(true, timers.monotonicMs() - startedMs)
      isThrough = true
      if (isSecure) secure(tunnel, target.host, true, succeed)
      else succeed(tunnel)
    }

    const askProxy = (used: ProxyHop, connected: Socket): void => {
      const done = (stands: boolean): void => (stands ? reachTarget(connected) : fail("proxy"))
      if (used.type === "socks5") socksThrough(connected, asked, used, done)
      else connectThrough(connected, asked, used, done)
    }

    /** Marked sockets try one address after the other: Node can race only sockets that it makes itself. */
    const openMarked = (connectMarked: ConnectMarked, [address = "", ...others]: ReadonlyArray<string>): void => {
      let tcp: Socket
      try {
        tcp = connectMarked(address, hop.port).setKeepAlive(true, tcpKeepAliveMs)
      } catch {
        return fail("other")
      }
      use(tcp, others.length === 0 ? null : () => openMarked(connectMarked, others))
    }

    const open = (addresses: ReadonlyArray<string>): void => {
      const connectMarked = socketMark()
      if (connectMarked !== null) return openMarked(connectMarked, addresses)
      const tcp = connectTcp({
        host: hop.host,
        port: hop.port,
        lookup: lookupOf(addresses),
        autoSelectFamily: family === 0,
        autoSelectFamilyAttemptTimeout: addressAttemptMs,
        ...(transport?.localAddress == null ? {} : { localAddress: transport.localAddress }),
        keepAlive: true,
        keepAliveInitialDelay: tcpKeepAliveMs,
        noDelay: true
      })
      use(tcp, null)
    }

    /** `next`: what is tried when this one is not made, or not soon; null: nothing. */
    const use = (tcp: Socket, next: (() => void) | null): void => {
      let mayGoOn = next !== null
      let isGivenUp = false
      const goOn = (): void => {
        if (!mayGoOn || settled) return
        mayGoOn = false
        isGivenUp = true
        tcp.destroy()
        next?.()
      }
      const slow = next === null ? null : timers.after(addressAttemptMs, goOn)
      socket = tcp
      tcp
        .on("error", (error: NodeJS.ErrnoException) => {
          slow?.cancel()
          if (isGivenUp) return
          if (mayGoOn) return goOn()
          fail(connectFailureKind(error.code))
          markReset(error)
        })
        .once("connect", () => {
          slow?.cancel()
          mayGoOn = false
          const reachedPolicy = proxy?.id === environmentEgress ? ownNetwork : policy
          if (isBlocked(tcp.remoteAddress ?? "", reachedPolicy)) return fail(proxy === undefined ? "blocked" : "proxy")
          if (proxy === undefined) return reachTarget(tcp)
          const reached = (way: Socket): void => (options.endsAtProxy === true ? succeed(way) : askProxy(proxy, way))
          if (proxy.type === "https") secure(tcp, proxy.host, false, reached)
          else reached(tcp)
        })
    }

    const start = async (): Promise<void> => {
      const found = await judgedAddresses(policy)
      if (settled) return
      if (typeof found === "string") fail(found)
      else open(found)
    }
    void start()
    return () => {
      isAborted = true
      fail("other")
    }
  }
}
