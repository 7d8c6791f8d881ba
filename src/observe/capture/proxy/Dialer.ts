/**
 * Connections that a proxy makes for its clients. A name is resolved once and each address is judged: those of cloud metadata and those that
 * belong to no host are refused, and the proxy itself. Programs of this machine may reach everything else by themselves as well.
 */
import { connect, isIP, type LookupFunction, type Socket } from "node:net"
import { judgeAddress, judgeHost, type OutboundPolicy } from "../../../net/egress/OutboundPolicy.ts"
import { type ConnectMarked, socketMark } from "../../../net/egress/SocketMark.ts"
import type { Timers } from "../../../platform/Timers.ts"
import { type Dialled, DialFailed, dialFailed } from "../tls/Origin.ts"

export interface DialerOptions {
  readonly timers: Pick<typeof Timers.Service, "after">
  /** All addresses of a name. */
  readonly resolve: (host: string) => Promise<ReadonlyArray<string>>
  readonly timeoutMs: number
  /** Checks whether an address and port are the proxy's own. */
  readonly isSelf: (address: string, port: number) => boolean
}

export type Dialer = (host: string, port: number, done: (dialled: Dialled) => void) => void

/** Codes of our own refusals; all others are failures of the network. */
const refusedCodes = { metadata: "REFUSED_ADDRESS", self: "REFUSED_LOOP" } as const

const open: OutboundPolicy = { allowLoopback: true, allowPrivate: true }
/** One address gets this long before the next one is tried beside it. */
const addressAttemptMs = 500

const notAllowed = (): DialFailed =>
  new DialFailed(refusedCodes.metadata, "The proxy does not connect to this address.", 403)
const itself = (): DialFailed => new DialFailed(refusedCodes.self, "The proxy does not connect to itself.", 400)

const lookupOf =
  (addresses: ReadonlyArray<string>): LookupFunction =>
  (_host, { all }, done) => {
    const [first = ""] = addresses
    if (all !== true) return done(null, first, isIP(first))
    done(
      null,
      addresses.map((address) => ({ address, family: isIP(address) }))
    )
  }

export const makeDialer = ({ isSelf, resolve, timeoutMs, timers }: DialerOptions): Dialer => {
  /** Null: it may be reached. */
  const problemOf = (address: string, port: number): DialFailed | null => {
    if (isSelf(address, port)) return itself()
    return judgeAddress(address, open)._tag === "Blocked" ? notAllowed() : null
  }

  const addressesOf = async (host: string, port: number): Promise<ReadonlyArray<string> | DialFailed> => {
    if (judgeHost(host, open)._tag === "Blocked") return notAllowed()
    try {
      const addresses = isIP(host) === 0 ? await resolve(host) : [host]
      const problem = addresses.map((address) => problemOf(address, port)).find((found) => found !== null)
      if (problem !== undefined) return problem
      return addresses.length === 0 ? new DialFailed("ENOTFOUND", `${host} has no address.`) : addresses
    } catch (cause) {
      return dialFailed(cause, host)
    }
  }

  return (host, port, done) => {
    let isOver = false
    let socket: Socket | null = null
    const finish = (dialled: Dialled): void => {
      if (isOver) return
      isOver = true
      timer.cancel()
      if (dialled instanceof DialFailed) socket?.destroy()
      done(dialled)
    }
    const timer = timers.after(timeoutMs, () =>
      finish(new DialFailed("ETIMEDOUT", `The connection to ${host} was not made in time.`))
    )
    const use = (made: Socket, onFailed: (error: unknown) => void): void => {
      socket = made
      made.on("error", onFailed).once("connect", () => finish(problemOf(made.remoteAddress ?? "", port) ?? made))
    }
    /** Marked sockets try one address after the other: Node can race only sockets that it makes itself. */
    const openMarked = (connectMarked: ConnectMarked, [address = "", ...others]: ReadonlyArray<string>): void => {
      let isFailed = false
      const onFailed = (error: unknown): void => {
        if (isOver || isFailed) return
        isFailed = true
        if (others.length > 0) openMarked(connectMarked, others)
        else finish(dialFailed(error, host))
      }
      try {
        use(connectMarked(address, port, { allowHalfOpen: true }), onFailed)
      } catch (cause) {
        onFailed(cause)
      }
    }
    const start = async (): Promise<void> => {
      const addresses = await addressesOf(host, port)
      if (isOver) return
      if (addresses instanceof DialFailed) return finish(addresses)
      const connectMarked = socketMark()
      if (connectMarked !== null) return openMarked(connectMarked, addresses)
      const made = connect({
        host,
        port,
        lookup: lookupOf(addresses),
        autoSelectFamily: true,
        autoSelectFamilyAttemptTimeout: addressAttemptMs,
        allowHalfOpen: true,
        noDelay: true
      })
      use(made, (error) => finish(dialFailed(error, host)))
    }
    void start()
  }
}
