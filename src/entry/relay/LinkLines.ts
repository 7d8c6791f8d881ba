/**
 * Messages between a worker and the owner over a socket: a line for each turn of the event loop with all messages of the turn, so that their number
 * costs neither side a system call each. A way that does not empty is given up: what must not be lost is sent again over the next one.
 */
import type { Socket } from "node:net"

/** `q`: number of a question; `r`: number of the question that is answered. */
export interface LinkMessage {
  readonly t?: string
  readonly b?: unknown
  readonly q?: number
  readonly r?: number
}

/** First message of a way, from both ends. */
export interface Hello {
  readonly place: number
  readonly life: number
  /** Version and build of the program: processes of another one do not understand each other. */
  readonly build: string
}

const lineFeed = 0x0a
/** Most bytes that wait for the other end, and of one line. */
export const mostWaiting = 64 * 1_048_576

export class LinkLines {
  readonly #socket: Socket
  readonly #soon: (run: () => void) => void
  #outbox: Array<LinkMessage | Hello> = []

  constructor(socket: Socket, soon: (run: () => void) => void) {
    this.#socket = socket
    this.#soon = soon
  }

  /** Hot. */
  send(message: LinkMessage | Hello): void {
    if (this.#outbox.push(message) === 1) this.#soon(() => this.#flush())
  }

  #flush(): void {
    const messages = this.#outbox
    this.#outbox = []
    if (this.#socket.destroyed) return
    this.#socket.write(`${JSON.stringify(messages)}\n`)
    if (this.#socket.writableLength > mostWaiting) this.#socket.destroy()
  }
}

/** Reads lines of a socket; `take` gets each message. A line that is none ends the way. */
export const readLines = (socket: Socket, take: (message: LinkMessage & Partial<Hello>) => void): void => {
  let parts: Array<Buffer> = []
  let size = 0
  const whole = (line: Buffer): void => {
    const messages: unknown = JSON.parse(line.toString("utf8"))
    if (!Array.isArray(messages)) throw new TypeError("A line is no list of messages.")
    for (const message of messages) take(message as LinkMessage & Partial<Hello>)
  }
  const onBytes = (bytes: Buffer): void => {
    let from = 0
    for (let end = bytes.indexOf(lineFeed); end !== -1; end = bytes.indexOf(lineFeed, from)) {
      const last = bytes.subarray(from, end)
      whole(parts.length === 0 ? last : Buffer.concat([...parts, last]))
      parts = []
      size = 0
      from = end + 1
    }
    if (from === bytes.length) return
    parts.push(bytes.subarray(from))
    size += bytes.length - from
    if (size > mostWaiting) throw new RangeError("A line is too long.")
  }
  socket.on("data", (bytes: Buffer) => {
    try {
      onBytes(bytes)
    } catch (error) {
      socket.destroy(error as Error)
    }
  })
}
