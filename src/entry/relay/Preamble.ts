/**
 * The first line of a connection that a worker makes to the owner for one of its clients: whose connection it stands for. What asks for the
 * address of a request then finds the client's, not the worker's. Pure.
 */
import { addressesFrom, type SocketAddresses, writtenAddresses } from "../../subjects/auth/PeerAddress.ts"

/** Most bytes of the line. */
export const mostBytes = 1_024

const lineFeed = 0x0a

export const preambleOf = (socket: SocketAddresses): string => `${JSON.stringify(writtenAddresses(socket))}\n`

export interface Preamble {
  readonly addresses: SocketAddresses
  /** Bytes after the line. */
  readonly rest: Buffer
}

/** Reads the line at the beginning of what a connection has sent; null: it is not whole yet, "wrong": it is none. */
export const readPreamble = (bytes: Buffer): Preamble | "wrong" | null => {
  const end = bytes.indexOf(lineFeed)
  if (end === -1) return bytes.length > mostBytes ? "wrong" : null
  if (end > mostBytes) return "wrong"
  try {
    const addresses = addressesFrom(JSON.parse(bytes.toString("utf8", 0, end)))
    return addresses === null ? "wrong" : { addresses, rest: bytes.subarray(end + 1) }
  } catch {
    return "wrong"
  }
}
