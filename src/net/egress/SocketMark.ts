/**
 * Mark of sockets while the transparent capture runs: a firewall mark, so that the gateway's own calls are not intercepted. The firewall
 * is the machine's, so this is one place for the process; `capture` sets it for as long as its rules are in force.
 */
import type { Socket } from "node:net"

/** A connecting socket to an IP address, with the mark. Throws the system's error where none can be made. */
export type ConnectMarked = (address: string, port: number, options?: { readonly allowHalfOpen?: boolean }) => Socket

let marked: ConnectMarked | null = null

/** Hot: returns the maker of marked sockets; called for each connection; null: sockets are made as usual. */
export const socketMark = (): ConnectMarked | null => marked

/** Returns what empties the place again. */
export const fillSocketMark = (connect: ConnectMarked): (() => void) => {
  marked = connect
  return () => {
    if (marked === connect) marked = null
  }
}
