/**
 * Finds the user of the program at the other end of a connection within this machine. Linux only, by the tables of open sockets
 * (proc_pid_net(5), https://man7.org/linux/man-pages/man5/proc_pid_net.5.html); elsewhere the system does not say it cheaply.
 */
import * as Effect from "effect/Effect"
import { open } from "node:fs/promises"

export interface SocketEnd {
  readonly address: string
  readonly port: number
}

/** Both ends of a connection, as this side sees them. */
export interface ConnectionEnds {
  readonly own: SocketEnd
  readonly peer: SocketEnd
}

const tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"]
/** 100,000 open sockets and more. */
const mostBytes = 16 * 1024 * 1024

/** The IPv4 address of the last four bytes, which the table writes in the machine's order; null where the rest is another address. */
const addressOf = (hex: string): string | null => {
  if (hex === "00000000000000000000000001000000") return "::1"
  const last = hex.slice(-8)
  if (hex.length > 8 && hex !== `0000000000000000FFFF0000${last}`) return null
  const bytes = last.match(/../g)?.map((byte) => Number.parseInt(byte, 16)) ?? []
  return bytes.toReversed().join(".")
}

const endOf = (text: string | undefined): string => {
  const [address = "", port = ""] = (text ?? "").split(":")
  return `${addressOf(address) ?? "-"} ${Number.parseInt(port, 16)}`
}

/** Writes an end as `endOf` does; a mapped IPv4 address is that address. */
const shownEnd = ({ address, port }: SocketEnd): string => `${address.replace(/^::ffff:(?=\d)/i, "")} ${port}`

/** Finds the user id of the row whose own end is the peer's and whose other end is ours, each as `shownEnd` writes it; null: there is none. */
export const userIn = (table: string, peer: string, own: string): number | null => {
  const port = Number(peer.slice(peer.indexOf(" ") + 1))
  const wanted = `:${port.toString(16).toUpperCase().padStart(4, "0")} `
  // Only rows with the peer's port are taken apart: there may be very many others.
  for (let at = table.indexOf(wanted); at >= 0; at = table.indexOf(wanted, at + 1)) {
    const line = table.slice(table.lastIndexOf("\n", at) + 1, at + 120).split("\n", 1)[0] ?? ""
    const [, local, remote, , , , , user] = line.trim().split(/\s+/)
    if (user !== undefined && endOf(local) === peer && endOf(remote) === own) return Number(user)
  }
  return null
}

const readTable = async (file: string): Promise<string> => {
  try {
    const handle = await open(file, "r")
    try {
      const parts: Array<Buffer> = []
      let bytes = 0
      while (bytes < mostBytes) {
        const { buffer, bytesRead } = await handle.read({ buffer: Buffer.alloc(65_536) })
        if (bytesRead === 0) break
        bytes += bytesRead
        parts.push(buffer.subarray(0, bytesRead))
      }
      return Buffer.concat(parts).toString("latin1")
    } finally {
      await handle.close()
    }
  } catch {
    return ""
  }
}

/** Finds the user id of the program at the other end; null: it is not known. */
export const userOfPeer = (ends: ConnectionEnds): Effect.Effect<number | null> =>
  Effect.promise(async () => {
    if (process.platform !== "linux") return null
    const [peer, own] = [shownEnd(ends.peer), shownEnd(ends.own)]
    for (const table of tables) {
      const user = userIn(await readTable(table), peer, own)
      if (user !== null) return user
    }
    return null
  })

/** Checks whether a user may do what the user of this process may: it is the same one, or root. Not known counts as such. */
export const isOwnUser = (user: number | null): boolean => {
  const own = process.getuid?.()
  return user === null || own === undefined || user === own || user === 0
}
