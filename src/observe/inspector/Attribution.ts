/**
 * Finds the process that a connection belongs to, on Linux: the kernel's tables of TCP sockets name the socket by its ports, and the
 * files that processes have open name it again. Null on any failure and on other systems; no request waits for it.
 *
 * https://docs.kernel.org/networking/proc_net_tcp.html
 */
import { readdir, readFile, readlink } from "node:fs/promises"

export interface Owner {
  readonly pid: number
  readonly processName: string | null
}

/** Ports of the connection as the client sees it. */
export interface ClientSocket {
  readonly localPort: number
  readonly remotePort: number
}

/** Time in ms for which a reading is used. */
const freshMs = 1_000
/** Readings within that time for connections that are younger than the one before. Whatever comes meanwhile shares the next. */
const maxReadAgain = 10
/** Files of processes that are looked at in one turn of the event loop. */
const batch = 64
const maxProcesses = 32_768
const maxFilesPerProcess = 65_536

/** Reads the sockets by `localPort:remotePort`. */
export const readSocketTable = (text: string, into: Map<string, string>): void => {
  let start = text.indexOf("\n") + 1
  while (start > 0 && start < text.length) {
    const end = text.indexOf("\n", start)
    const columns = text
      .slice(start, end < 0 ? text.length : end)
      .trim()
      .split(/\s+/, 10)
    const [, local = "", remote = "", , , , , , , inode = "0"] = columns
    const localPort = Number.parseInt(local.slice(local.lastIndexOf(":") + 1), 16)
    const remotePort = Number.parseInt(remote.slice(remote.lastIndexOf(":") + 1), 16)
    // A socket without an owner has none.
    if (/^[1-9]\d*$/.test(inode) && localPort > 0) into.set(`${localPort}:${remotePort}`, inode)
    if (end < 0) break
    start = end + 1
  }
}

const inodeOf = (link: string): string | null => /^socket:\[(\d+)\]$/.exec(link)?.[1] ?? null

const orNull = <A>(promise: Promise<A>): Promise<A | null> =>
  promise.then(
    (value) => value,
    () => null
  )

export interface Attribution {
  /** Finds the owner of a socket. Never fails. */
  readonly ownerOf: (socket: ClientSocket) => Promise<Owner | null>
}

interface Reading {
  /** Number of the look-up that began it: later ones may be for connections that it does not have. */
  readonly number: number
  readonly sockets: Promise<ReadonlyMap<string, string>>
  /** Reads the owners for the first socket that is found: those of others are many files. */
  readonly owners: () => Promise<ReadonlyMap<string, number>>
}

const once = <A>(make: () => A): (() => A) => {
  let made: { readonly value: A } | null = null
  return () => (made ??= { value: make() }).value
}

/** `folder`: where the kernel's tables are, `/proc`. */
export const makeAttribution = (folder: string, nowMs: () => number): Attribution => {
  let reading: Reading | null = null
  /** Time at which the shared reading was begun, and the number of repeated readings for younger connections. */
  let freshFromMs = 0
  let readAgain = 0
  let lookUps = 0

  const readSockets = async (): Promise<ReadonlyMap<string, string>> => {
    const sockets = new Map<string, string>()
    for (const name of ["net/tcp", "net/tcp6"]) {
      readSocketTable((await orNull(readFile(`${folder}/${name}`, "utf8"))) ?? "", sockets)
    }
    return sockets
  }

  const readOwners = async (): Promise<ReadonlyMap<string, number>> => {
    const owners = new Map<string, number>()
    const names = (await orNull(readdir(folder))) ?? []
    const pids = names.filter((name) => /^\d{1,10}$/.test(name)).slice(0, maxProcesses)
    for (const pid of pids) {
      const files = ((await orNull(readdir(`${folder}/${pid}/fd`))) ?? []).slice(0, maxFilesPerProcess)
      for (let at = 0; at < files.length; at += batch) {
        const links = await Promise.all(
          files.slice(at, at + batch).map((file) => orNull(readlink(`${folder}/${pid}/fd/${file}`)))
        )
        for (const link of links) {
          const inode = link === null ? null : inodeOf(link)
          // A child that shares the socket is not its owner: the first has it.
          if (inode !== null && !owners.has(inode)) owners.set(inode, Number(pid))
        }
      }
    }
    return owners
  }

  const read = (number: number): Reading => (reading = { number, sockets: readSockets(), owners: once(readOwners) })

  const current = (number: number): Reading => {
    const now = nowMs()
    if (reading !== null && now - freshFromMs < freshMs && now >= freshFromMs) return reading
    freshFromMs = now
    readAgain = 0
    return read(number)
  }

  /** One that was begun after the look-up; null: there were enough. */
  const younger = (number: number): Reading | null => {
    if (reading !== null && reading.number >= number) return reading
    if (readAgain >= maxReadAgain) return null
    readAgain += 1
    return read((lookUps += 1))
  }

  const pidIn = async (
    { owners, sockets }: Reading,
    { localPort, remotePort }: ClientSocket
  ): Promise<number | undefined> => {
    const inode = (await sockets).get(`${localPort}:${remotePort}`)
    return inode === undefined ? undefined : (await owners()).get(inode)
  }

  const ownerOf = async (socket: ClientSocket): Promise<Owner | null> => {
    const number = (lookUps += 1)
    const first = current(number)
    let pid = await pidIn(first, socket)
    if (pid === undefined && first.number < number) {
      const second = younger(number)
      if (second !== null) pid = await pidIn(second, socket)
    }
    if (pid === undefined) return null
    const name = await orNull(readFile(`${folder}/${pid}/comm`, "utf8"))
    return { pid, processName: name === null ? null : name.trim().slice(0, 64) }
  }

  return { ownerOf: (socket) => ownerOf(socket).catch(() => null) }
}
