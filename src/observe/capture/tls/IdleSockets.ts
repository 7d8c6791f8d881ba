/** Ends sockets over which nothing went for a while. One timer for all of them, and none while there are none. */
import type { Socket } from "node:net"
import type { Timer, Timers } from "../../../platform/Timers.ts"

/** Looked at so often within the limit: a socket ends at most a quarter of it too late. */
const looks = 4

interface Watched {
  bytes: number
  quietLooks: number
}

export class IdleSockets {
  readonly #sockets = new Map<Socket, Watched>()
  readonly #timers: Pick<typeof Timers.Service, "after">
  readonly #idleMs: number
  #timer: Timer | null = null

  constructor(timers: Pick<typeof Timers.Service, "after">, idleMs: number) {
    this.#timers = timers
    this.#idleMs = idleMs
  }

  get size(): number {
    return this.#sockets.size
  }

  /** Watches a socket until it is closed. */
  watch(socket: Socket): void {
    this.#sockets.set(socket, { bytes: 0, quietLooks: 0 })
    socket.once("close", () => {
      this.#sockets.delete(socket)
      if (this.#sockets.size > 0) return
      this.#timer?.cancel()
      this.#timer = null
    })
    this.#timer ??= this.#next()
  }

  /** Ends all of them; returns how many there were. */
  destroyAll(): number {
    const sockets = [...this.#sockets.keys()]
    for (const socket of sockets) socket.destroy()
    return sockets.length
  }

  #next(): Timer {
    return this.#timers.after(Math.max(1, Math.ceil(this.#idleMs / looks)), () => {
      this.#timer = this.#next()
      for (const [socket, watched] of this.#sockets) {
        const bytes = socket.bytesRead + socket.bytesWritten
        watched.quietLooks = bytes === watched.bytes ? watched.quietLooks + 1 : 0
        watched.bytes = bytes
        if (watched.quietLooks >= looks) socket.destroy()
      }
    })
  }
}
