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
import { connect as connectTls, type ConnectionOptions, type TLSSocket } from "node:tls"
import type { Transport } from "../../contract/domain/Transport.ts"
import type { Timer, Timers } from "../../platform/Timers.ts"
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

const isBlocked = (address: string, policy: OutboundPolicy): boolean => judgeAddress(address, policy)._tag === "Blocked"

/** An origin, with all that its connections have in common. */
class Origin {
  readonly options: ConnectorOptions
  readonly isSecure: boolean
  readonly target: Target
  /** Target of the TCP connection. */
  readonly hop: Target
  readonly family: 0 | 4 | 6
  /** Target that the proxy is asked for. */
  asked: Target
  readonly #tls: Pick<ConnectionOptions, "ca" | "cert" | "key">
  #session: Buffer | undefined

  constructor(origin: URL, options: ConnectorOptions) {
    const { proxy, transport } = options
    this.options = options
    this.isSecure = origin.protocol === "https:"
    this.target = {
      host: origin.hostname.replace(/^\[(.*)\]$/, "$1"),
      port: origin.port === "" ? (this.isSecure ? secureDefaultPort : plainDefaultPort) : Number(origin.port)
    }
    this.hop = proxy ?? this.target
    this.family = proxy?.family ?? 0
    this.asked = this.target
    this.#tls = tlsOf(transport)
  }

  async judgedAddresses(policy: OutboundPolicy): Promise<ReadonlyArray<string> | TransportFailureKind> {
    const { dns, proxiedName = "name", proxy } = this.options
    if (judgeHost(this.target.host, policy)._tag === "Blocked") return "blocked"
    const hopPolicy = this.hopPolicy(policy)
    if (proxy !== undefined && judgeHost(this.hop.host, hopPolicy)._tag === "Blocked") return "proxy"
    if (proxy !== undefined && proxiedName !== "name" && isIP(this.target.host) === 0) {
      const asked = await this.#judgedTarget(policy, proxiedName)
      if (typeof asked === "string") return asked
      this.asked = asked
    }
    if (isIP(this.hop.host) !== 0) return [this.hop.host]
    try {
      const addresses = await dns.resolve(this.hop.host)
      // One forbidden address blocks the name: which of them would be reached is up to chance or to an attacker.
      if (addresses.some((address) => isBlocked(address, hopPolicy))) return proxy === undefined ? "blocked" : "proxy"
      const { family } = this
      const usable = family === 0 ? addresses : addresses.filter((address) => isIP(address) === family)
      return usable.length === 0 ? this.#noAddress() : usable
    } catch {
      return this.#noAddress()
    }
  }

  /** The policy for the address that the TCP connection goes to. */
  hopPolicy(policy: OutboundPolicy): OutboundPolicy {
    return this.options.proxy?.id === environmentEgress ? ownNetwork : policy
  }

  tlsToTarget(socket: Socket): TLSSocket {
    const { host } = this.target
    const name = this.options.transport?.serverName ?? null
    const tls = connectTls({
      socket,
      host: name ?? host,
      servername: name ?? serverName(host),
      ALPNProtocols: ["http/1.1"],
      ...(this.#session === undefined ? {} : { session: this.#session }),
      ...this.#tls
    })
    return tls.on("session", (ticket) => {
      this.#session = ticket
    })
  }

  async #judgedTarget(policy: OutboundPolicy, how: "checked" | "pinned"): Promise<Target | TransportFailureKind> {
    const { host, port } = this.target
    try {
      const addresses = await this.options.dns.resolve(host)
      if (addresses.some((address) => isBlocked(address, policy))) return "blocked"
      const [first] = addresses
      return how === "checked" || first === undefined ? this.target : { host: first, port }
    } catch {
      return how === "checked" ? this.target : "dns"
    }
  }

  /**
   * Kind of failure without an address: a pinned family that the proxy does not have is refused, and so is a name whose
   * family is not known.
   */
  #noAddress(): TransportFailureKind {
    if (this.options.proxy === undefined) return "dns"
    return this.family === 0 ? "proxy" : "proxy_family"
  }
}

const tlsToProxy = (socket: Socket, host: string): TLSSocket =>
  connectTls({ socket, host, servername: serverName(host), ALPNProtocols: ["http/1.1"] })

/** One connection that is being made. */
class Connecting {
  readonly #origin: Origin
  readonly #listener: ConnectListener
  readonly #policy: OutboundPolicy
  readonly #timer: Timer
  readonly #startedMs: number
  /** The innermost one; destroying it ends those below. */
  #socket: Socket | null = null
  #settled = false
  #isAborted = false
  /** False until the proxy has opened the tunnel: what fails before that is the proxy's failure. */
  #isThrough: boolean

  constructor(origin: Origin, listener: ConnectListener) {
    const { connectTimeoutMs, policy, proxy, timers, transport } = origin.options
    this.#origin = origin
    this.#listener = listener
    this.#policy = policy()
    this.#isThrough = proxy === undefined
    this.#startedMs = proxy === undefined ? 0 : timers.monotonicMs()
    this.#timer = timers.after(transport?.connectTimeoutMs ?? connectTimeoutMs(), () => this.#fail("connect_timeout"))
  }

  async start(): Promise<void> {
    const found = await this.#origin.judgedAddresses(this.#policy)
    if (this.#settled) return
    if (typeof found === "string") this.#fail(found)
    else this.#open(found)
  }

  abort(): void {
    this.#isAborted = true
    this.#fail("other")
  }

  #fail(kind: TransportFailureKind, why: TransportFailure | null = null): void {
    if (this.#settled) return
    this.#settled = true
    this.#timer.cancel()
    if (!this.#isThrough && kind !== "blocked" && !this.#isAborted) this.#reportProxy(false)
    this.#socket?.destroy()
    const isTargets = this.#isThrough || kind === "blocked" || kind === "dns" || kind === "proxy_family"
    this.#listener.onFail(isTargets ? (why ?? transportFailure(kind)) : transportFailure("proxy"))
  }

  #succeed(connected: Socket): void {
    if (this.#settled) return
    this.#settled = true
    this.#timer.cancel()
    this.#listener.onSocket(connected)
  }

  #reportProxy(stands: boolean): void {
    const { onProxy, timers } = this.#origin.options
    onProxy?.(stands, timers.monotonicMs() - this.#startedMs)
  }

  #open(addresses: ReadonlyArray<string>): void {
    const connectMarked = socketMark()
    if (connectMarked !== null) return this.#openMarked(connectMarked, addresses)
    const { family, hop, options } = this.#origin
    const localAddress = options.transport?.localAddress ?? null
    const tcp = connectTcp({
      host: hop.host,
      port: hop.port,
      lookup: lookupOf(addresses),
      autoSelectFamily: family === 0,
      autoSelectFamilyAttemptTimeout: addressAttemptMs,
      ...(localAddress === null ? {} : { localAddress }),
      keepAlive: true,
      keepAliveInitialDelay: tcpKeepAliveMs,
      noDelay: true
    })
    this.#use(tcp, null)
  }

  /** Marked sockets try one address after the other: Node can race only sockets that it makes itself. */
  #openMarked(connectMarked: ConnectMarked, [address = "", ...others]: ReadonlyArray<string>): void {
    let tcp: Socket
    try {
      tcp = connectMarked(address, this.#origin.hop.port).setKeepAlive(true, tcpKeepAliveMs)
    } catch {
      return this.#fail("other")
    }
    this.#use(tcp, others.length === 0 ? null : () => this.#openMarked(connectMarked, others))
  }

  /** `next`: what is tried when this one is not made, or not soon; null: nothing. */
  #use(tcp: Socket, next: (() => void) | null): void {
    let mayGoOn = next !== null
    let isGivenUp = false
    const goOn = (): void => {
      if (!mayGoOn || this.#settled) return
      mayGoOn = false
      isGivenUp = true
      tcp.destroy()
      next?.()
    }
    const slow = next === null ? null : this.#origin.options.timers.after(addressAttemptMs, goOn)
    this.#socket = tcp
    tcp
      .on("error", (error: NodeJS.ErrnoException) => {
        slow?.cancel()
        if (isGivenUp) return
        if (mayGoOn) return goOn()
        this.#fail(connectFailureKind(error.code))
        markReset(error)
      })
      .once("connect", () => {
        slow?.cancel()
        mayGoOn = false
        this.#connected(tcp)
      })
  }

  #connected(tcp: Socket): void {
    const { endsAtProxy, proxy } = this.#origin.options
    const isForbidden = isBlocked(tcp.remoteAddress ?? "", this.#origin.hopPolicy(this.#policy))
    if (isForbidden) return this.#fail(proxy === undefined ? "blocked" : "proxy")
    if (proxy === undefined) return this.#reachTarget(tcp)
    const reached = (way: Socket): void => (endsAtProxy === true ? this.#succeed(way) : this.#askProxy(proxy, way))
    if (proxy.type === "https") this.#secure(tlsToProxy(tcp, proxy.host), reached)
    else reached(tcp)
  }

  #askProxy(proxy: ProxyHop, connected: Socket): void {
    const done = (stands: boolean): void => (stands ? this.#reachTarget(connected) : this.#fail("proxy"))
    if (proxy.type === "socks5") socksThrough(connected, this.#origin.asked, proxy, done)
    else connectThrough(connected, this.#origin.asked, proxy, done)
  }

  #reachTarget(tunnel: Socket): void {
    if (this.#settled) return
    if (!this.#isThrough) this.#reportProxy(true)
    this.#isThrough = true
    if (this.#origin.isSecure) this.#secure(this.#origin.tlsToTarget(tunnel), (tls) => this.#succeed(tls))
    else this.#succeed(tunnel)
  }

  #secure(tls: TLSSocket, then: (tls: Socket) => void): void {
    this.#socket = tls
    tls
      .on("error", (error: NodeJS.ErrnoException) => {
        this.#fail("tls", tlsFailure(tlsProblemOf(error.code)))
        markReset(error)
      })
      .once("secureConnect", () => then(tls))
  }
}

/** A connector for one origin; it keeps the origin's last TLS session for quicker handshakes. */
export const makeConnector = (url: URL, options: ConnectorOptions): Connect => {
  const origin = new Origin(url, options)
  return (listener) => {
    const connecting = new Connecting(origin, listener)
    void connecting.start()
    return () => connecting.abort()
  }
}
