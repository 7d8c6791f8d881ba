/**
 * The first line of a connection that a worker makes to the owner for one of its clients: whose connection it stands for. What asks for the
 * address of a request then finds the client's, not the worker's. Pure.
 */
import type { SocketAddresses } from "../../subjects/auth/PeerAddress.ts"

/** Most bytes of the line. */
export const mostBytes = 1_024

const lineFeed = 0x0a

export const preambleOf = ({ localAddress, localPort, remoteAddress, remotePort }: SocketAddresses): string =>
  `${JSON.stringify([localAddress ?? null, localPort ?? null, remoteAddress ?? null, remotePort ?? null])}\n`

export interface Preamble {
  readonly addresses: SocketAddresses
  /** Bytes after the line. */
  readonly rest: Buffer
}

const textOr = (value: unknown): string | undefined => (typeof value === "string" ? value : undefined)
const portOr = (value: unknown): number | undefined => (typeof value === "number" ? value : undefined)

/** Reads the line at the beginning of what a connection has sent; null: it is not whole yet, "wrong": it is none. */
export const readPreamble = (bytes: Buffer): Preamble | "wrong" | null => {
  const end = bytes.indexOf(lineFeed)
  if (end === -1) return bytes.length > mostBytes ? "wrong" : null
  if (end > mostBytes) return "wrong"
  try {
    const line: unknown = JSON.parse(bytes.toString("utf8", 0, end))
    if (!Array.isArray(line) || line.length !== 4) return "wrong"
    const addresses = {
      localAddress: textOr(line[0]),
      localPort: portOr(line[1]),
      remoteAddress: textOr(line[2]),
      remotePort: portOr(line[3])
    }
    return { addresses, rest: bytes.subarray(end + 1) }
  } catch {
    return "wrong"
  }
}
