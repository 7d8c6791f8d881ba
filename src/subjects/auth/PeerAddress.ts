/**
 * Origin of a request, as far as access is concerned. The other end of a tunnel's connection is a program of this machine, and the address of the
 * client behind it is in headers only, which any client can set: it counts as unknown. `src/entry` reads addresses here and nowhere else.
 */
import type { ConnectionEnds } from "../../platform/PeerUser.ts"

/** The ends of a connection; the part of node's socket that is read here. */
export interface SocketAddresses {
  readonly localAddress?: string | undefined
  readonly localPort?: number | undefined
  readonly remoteAddress?: string | undefined
  readonly remotePort?: number | undefined
}

/** The addresses of a socket as they are written down for another process, which reads them with `addressesFrom`. */
export const writtenAddresses = (socket: SocketAddresses): ReadonlyArray<string | number | null> => [
  socket.localAddress ?? null,
  socket.localPort ?? null,
  socket.remoteAddress ?? null,
  socket.remotePort ?? null
]

const textOr = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
const portOr = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

/** Null for what is none. */
export const addressesFrom = (written: unknown): SocketAddresses | null =>
  Array.isArray(written) && written.length === 4
    ? {
        localAddress: textOr(written[0]),
        localPort: portOr(written[1]),
        remoteAddress: textOr(written[2]),
        remotePort: portOr(written[3])
      }
    : null

/** Rules for requests that come through a tunnel; the part of `Tunnels` that access depends on. */
export interface TunnelRules {
  /** Hot: host names of open tunnels, in lower case and without ports. */
  readonly publicHosts: () => ReadonlySet<string>
  /** Hot: tells whether they may carry requests while no API key is required. */
  readonly allowsKeyless: () => boolean
}

/** A connection as `Gate.admit` judges it. */
export interface Peer {
  /** Address of this machine that it came to. */
  readonly localAddress: string | null
  /** Null: not known. */
  readonly remoteAddress: string | null
  /** Null: it did not come through a tunnel. */
  readonly tunnel: TunnelRules | null
}

/** Holds no socket: an entry goes with its socket. */
const ofTunnels = new WeakSet<SocketAddresses>()

/** Marks a connection that a tunnel's listener has accepted. */
export const markTunnel = (socket: SocketAddresses): void => void ofTunnels.add(socket)

/** Hot. */
export const enteredByTunnel = (socket: SocketAddresses): boolean => ofTunnels.has(socket)

/** Hot: the peer address; null when the socket is gone, or the connection came through a tunnel. */
export const peerAddressOf = (socket: SocketAddresses): string | null =>
  enteredByTunnel(socket) ? null : (socket.remoteAddress ?? null)

/** Placeholder for the address of clients behind tunnels in the audit log and the login lock list. */
export const throughTunnel = "tunnel"

/** Both ends of a connection that came directly; null when the socket is gone, or the connection came through a tunnel. */
export const endsOf = (socket: SocketAddresses): ConnectionEnds | null => {
  const { localAddress, localPort, remoteAddress, remotePort } = socket
  if (enteredByTunnel(socket) || localAddress === undefined || remoteAddress === undefined) return null
  return {
    own: { address: localAddress, port: localPort ?? 0 },
    peer: { address: remoteAddress, port: remotePort ?? 0 }
  }
}

/** The peer address as it is written down; empty when it is not known. */
export const shownAddressOf = (socket: SocketAddresses): string =>
  enteredByTunnel(socket) ? throughTunnel : (socket.remoteAddress ?? "")

/** Hot. */
export const peerOf = (socket: SocketAddresses, tunnels: TunnelRules): Peer => ({
  localAddress: socket.localAddress ?? null,
  remoteAddress: peerAddressOf(socket),
  tunnel: enteredByTunnel(socket) ? tunnels : null
})
